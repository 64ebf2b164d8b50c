import { hash } from "node:crypto";
import { reasonOf } from "../../base/util/reason-of.ts";
import { fromStoredText, toStoredText } from "../../core/storage/postgres-client.ts";
import { queryParts } from "../../search/analysis/split-needs.ts";
import { inBatches, newestOf } from "../../search/port/engine-input.ts";
import type { SearchDocument, SearchFilter } from "../../search/port/search-index.ts";
import { bestFirst, blendCosines, type Scored } from "../../search/ranking/fusion.ts";
import { VECTORS } from "../../search/ranking/tuning.ts";
import { quantize } from "../../search/vectors/dot-block.ts";
import { type Embedder, vectorText } from "../../search/vectors/embedder.ts";
import { createVectorTable } from "./create-tables.ts";
import { filterSql } from "./filter-sql.ts";
import type { IndexTables } from "./index-tables.ts";

const BATCH = 64;

/** The vectors of documents in pgvector. An exact scan, which makes filters free. */
export class VectorTable {
  private readonly tables: IndexTables;
  private readonly embedder: Embedder;
  private failure: string | undefined;

  constructor(tables: IndexTables, embedder: Embedder) {
    this.tables = tables;
    this.embedder = embedder;
  }

  /** Why vectors are not used now. Undefined if they are. */
  async missing(): Promise<string | undefined> {
    if (!(await this.isThere())) return this.failure ?? "no writer has made vectors in this database";
    if (this.failure !== undefined) return this.failure;
    const { names, query } = this.tables;
    const sql = `select exists (select from ${names.vectors} where embedder = $1) as found`;
    const [row] = await query(sql, [toStoredText(this.embedder.id)]);
    return row?.found === true ? undefined : "no writer has made vectors with this embedder";
  }

  /** Creates missing and outdated vectors of documents. Must not throw: search by words still works. */
  async put(documents: readonly SearchDocument[]): Promise<void> {
    try {
      await this.create();
      for (const batch of inBatches(newestOf(documents).shown, BATCH)) await this.putBatch(batch);
      this.failure = undefined;
    } catch (error) {
      this.failure = reasonOf(error);
    }
  }

  /** Vectors of a query and its clauses. Empty if the embedder fails or cannot read the query. */
  async embedQuery(query: string): Promise<readonly Float32Array[]> {
    try {
      if (this.embedder.reads?.(query) === false || !(await this.isThere())) return [];
      const [whole, ...others] = await this.embedder.embed(queryParts(query));
      if (whole === undefined || isZero(whole)) return [];
      return [whole, ...others.filter((vector) => !isZero(vector))];
    } catch (error) {
      this.failure = reasonOf(error);
      return [];
    }
  }

  /**
   * Finds the documents nearest to a query, and the distance of those in `also`, best first, ties by id. `queries` are
   * the vectors of `embedQuery`. Empty if the server fails.
   */
  async search(
    queries: readonly Float32Array[],
    filter: SearchFilter,
    also: readonly string[],
  ): Promise<Scored[]> {
    if (queries.length === 0) return [];
    try {
      const { condition, params } = filterSql(filter, 4);
      // The inner product is the cosine, because vectors have length one.
      const { names, query } = this.tables;
      const rows = await query(
        `with asked as materialized (
           select a.place, a.written::vector as embedding
           from unnest($1::text[]) with ordinality as a(written, place)
         ), allowed as not materialized (
           select d.id, v.document, v.embedding
           from ${names.vectors} v join ${names.documents} d on d.number = v.document
           where v.embedder = $2 and ${condition}
         ), near as (
           select n.document from asked cross join lateral (
             select allowed.document from allowed
             order by allowed.embedding <#> asked.embedding, allowed.id limit ${VECTORS.depth}
           ) n
           union
           select allowed.document from allowed where allowed.id = any($3::text[])
         )
         select allowed.id, array_agg(-(allowed.embedding <#> asked.embedding) order by asked.place) as cosines
         from near join allowed on allowed.document = near.document cross join asked
         group by allowed.id`,
        [queries.map(toVectorText), toStoredText(this.embedder.id), also.map(toStoredText), ...params],
      );
      this.failure = undefined;
      const scores = blendCosines(
        queries.map((_, at) => rows.map(({ cosines }) => Number((cosines as number[])[at]))),
      );
      return rows
        .map(({ id }, at) => ({ id: fromStoredText(String(id)), score: scores[at]! }))
        .filter(({ score }) => score > 0)
        .sort(bestFirst);
    } catch (error) {
      this.failure = reasonOf(error);
      return [];
    }
  }

  private isThere(): Promise<boolean> {
    return this.tables.has(this.tables.names.vectors);
  }

  private async create(): Promise<void> {
    if (await this.isThere()) return;
    await this.tables.query("create extension if not exists vector");
    await createVectorTable(this.tables);
  }

  private async putBatch(documents: readonly SearchDocument[]): Promise<void> {
    const { names, query } = this.tables;
    const texts = new Map(documents.map((document) => [toStoredText(document.id), vectorText(document)]));
    const existing = await query(
      `select d.id, v.text_hash from ${names.vectors} v join ${names.documents} d on d.number = v.document
       where v.embedder = $1 and d.id = any($2::text[])`,
      [toStoredText(this.embedder.id), [...texts.keys()]],
    );
    const hashes = new Map(existing.map(({ id, text_hash }) => [id, text_hash]));
    const missing = [...texts].filter(([id, text]) => hashes.get(id) !== hashOf(text));
    if (missing.length === 0) return;
    const missingTexts = missing.map(([, text]) => text);
    const vectors = await (this.embedder.embedDocuments?.(missingTexts) ?? this.embedder.embed(missingTexts));
    const newRows = missing.flatMap(([id, text], at) => {
      const vector = vectors[at];
      return vector === undefined || isZero(vector) ? [] : [{ id, textHash: hashOf(text), vector }];
    });
    await query(`select ${names.putVectorsFunction}($1::text, $2::text[], $3::text[], $4::text[])`, [
      toStoredText(this.embedder.id),
      newRows.map(({ id }) => id),
      newRows.map(({ textHash }) => textHash),
      newRows.map(({ vector }) => toVectorText(vector)),
    ]);
  }
}

/** The vector as the embedded engine compares it, so that both rank alike. PostgreSQL refuses NaN. */
function toVectorText(vector: Float32Array): string {
  const levels = new Int8Array(vector.length);
  const scale = quantize(vector, levels);
  const components = scale === undefined ? Array.from(vector) : Array.from(levels, (level) => level * scale);
  return `[${components.join(",")}]`;
}

function isZero(vector: Float32Array): boolean {
  return vector.every((value) => value === 0);
}

function hashOf(text: string): string {
  return hash("sha256", text, "base64url");
}
