import { problem } from "../../base/problems/problem.ts";
import type { PostgresClient } from "../../core/storage/postgres-client.ts";
import { limitOf } from "../../search/port/engine-input.ts";
import type { SearchHit, SearchIndex, SearchStatus } from "../../search/port/search-index.ts";
import { expandQuery } from "../../search/rank.ts";
import { fuse } from "../../search/ranking/fusion.ts";
import { VECTORS } from "../../search/ranking/tuning.ts";
import type { Embedder } from "../../search/vectors/embedder.ts";
import { createTables } from "./create-tables.ts";
import { openIndexTables } from "./index-tables.ts";
import { rankWords } from "./rank-words.ts";
import { VectorTable } from "./vector-table.ts";
import { dropDocuments, writeDocuments } from "./write-documents.ts";

/** Options of {@link createPostgresIndex}. */
export interface PostgresIndexOptions {
  /** A `Pool` of `pg`, or anything with its `query`. Closing the index leaves it open. */
  readonly client: PostgresClient;
  /** Prefix of all names in the database, as `name` or `schema.name`. */
  readonly table?: string;
  /** Other gateways write: put and drop do nothing. */
  readonly readOnly?: boolean;
  /** Adds search by vectors if the server has pgvector. */
  readonly embedder?: Embedder;
}

/** A search index in PostgreSQL that many gateways share. See {@link createPostgresIndex}. */
export interface PostgresIndex extends SearchIndex {
  /** Whether searches use words alone or vectors too, and why. */
  status(): Promise<SearchStatus>;
}

/**
 * Opens a search index in PostgreSQL. The first put creates the tables; searches find nothing before that. See
 * {@link SearchIndex}.
 *
 * @throws INVALID_INPUT if `table` is not a plain name
 * @example
 * ```ts no-run
 * import { createGateway } from "keyhole";
 * import { createPostgresIndex } from "keyhole/postgres";
 * import pg from "pg";
 *
 * const client = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * const gateway = createGateway({ domains: [], index: createPostgresIndex({ client, table: "keyhole" }) });
 * ```
 */
export function createPostgresIndex(options: PostgresIndexOptions): PostgresIndex {
  const { client, embedder, readOnly = false } = options;
  const tables = openIndexTables(client, options.table ?? "keyhole");
  const vectors = embedder && new VectorTable(tables, embedder);
  const isReady = () => tables.has(tables.names.state);
  let closed = false;
  let creating: Promise<void> | undefined;

  function checkOpen(): void {
    if (closed) throw problem("CLOSED");
  }

  async function makeReady(): Promise<void> {
    if (await isReady()) return;
    creating ??= createTables(tables).finally(() => {
      creating = undefined;
    });
    await creating;
  }

  return {
    async put(documents) {
      checkOpen();
      if (readOnly) return;
      await makeReady();
      await writeDocuments(tables, documents);
      await vectors?.put(documents);
    },

    async drop(ids) {
      checkOpen();
      if (!readOnly && (await isReady())) await dropDocuments(tables, ids);
    },

    async search(request) {
      checkOpen();
      const limit = limitOf(request);
      if (limit === 0 || !(await isReady())) return [];
      const need = await expandQuery(request.query, embedder);
      const { query, asksToDestroy } = need;
      const depth = vectors === undefined ? limit : Math.max(limit, VECTORS.depth);
      const [[words, wordsMs], [queries, embedMs]] = await Promise.all([
        timed(rankWords(tables, need, request.filter, depth)),
        timed(vectors?.embedQuery(query) ?? Promise.resolve([])),
      ]);
      const hitIds = words.hits.map(({ id }) => id);
      const [nearest, searchMs] = await timed(
        vectors?.search(queries, request.filter, hitIds) ?? Promise.resolve([]),
      );
      const vectorsMs = embedMs + searchMs;
      const isAlone = nearest.length === 0;
      const { hits, by } = isAlone
        ? { hits: words.hits, by: "words" as const }
        : fuse(words.hits, nearest, words.sureName, (embedder?.fluency?.(query) ?? 1) * words.seen);
      const asks = asksToDestroy === undefined ? {} : { asksToDestroy };
      request.note?.({ by, wordsMs, ...(!isAlone && { vectorsMs }), ...asks });
      return hits.slice(0, limit).map(({ id, score }): SearchHit => ({ id, score }));
    },

    async status() {
      checkOpen();
      if (vectors === undefined) return { mode: "lexical" };
      const reason = await vectors.missing();
      return reason === undefined ? { mode: "hybrid" } : { mode: "lexical", reason };
    },

    async close() {
      closed = true;
    },
  };
}

/** The result of the work, with the milliseconds that it took. */
async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const started = performance.now();
  return [await work, performance.now() - started];
}
