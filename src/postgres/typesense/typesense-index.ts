import { type Problem, problem } from "../../base/problems/problem.ts";
import { field, listOf } from "../../base/util/plain-object.ts";
import { fromStoredText } from "../../core/storage/postgres-client.ts";
import { facetTest } from "../../search/lexical/live-segment.ts";
import { nameKey } from "../../search/lexical/names.ts";
import type { Facet } from "../../search/lexical/segment.ts";
import { inBatches, limitOf, newestOf } from "../../search/port/engine-input.ts";
import { type EngineAnswer, unavailable } from "../../search/port/engine-request.ts";
import type {
  SearchDocument,
  SearchFilter,
  SearchHit,
  SearchIndex,
  SearchRequest,
} from "../../search/port/search-index.ts";
import { resourceId, toFilterValue, toResourceDocument, WORD_FIELDS } from "./resource-document.ts";
import { type FieldWeights, MAX_PER_PAGE, queryText, searchParams, searchParts } from "./search-params.ts";
import { createTypesenseClient, type TypesenseOptions, unexpected, withoutKey } from "./typesense-client.ts";

/** Options of {@link createTypesenseIndex}. */
export interface TypesenseIndexOptions extends TypesenseOptions {
  /** Default: `keyhole_entries`. */
  readonly collection?: string;
}

const BATCH = 200;
/** Small, because the ids go into the URL. */
const DROP_BATCH = 20;
const MAX_PAGES = 40;

/**
 * Opens a search index in a Typesense collection, which the first put creates. It searches by words only. See
 * {@link SearchIndex}.
 *
 * @throws INVALID_INPUT if the URL or the collection name is malformed
 * @example
 * ```ts no-run
 * import { createGateway } from "keyhole";
 * import { createTypesenseIndex } from "keyhole/postgres";
 *
 * const index = createTypesenseIndex({ url: "http://127.0.0.1:8108", apiKey: process.env.TYPESENSE_KEY ?? "" });
 * const gateway = createGateway({ domains: [], index });
 * ```
 */
export function createTypesenseIndex(options: TypesenseIndexOptions): SearchIndex {
  const index = new TypesenseIndex(options);
  return {
    put: (documents) => index.put(documents),
    drop: (ids) => index.drop(ids),
    reset: () => index.reset(),
    search: (request) => index.search(request),
    close: () => index.close(),
  };
}

class TypesenseIndex {
  private readonly send: ReturnType<typeof createTypesenseClient>;
  private readonly collection: string;
  private readonly path: string;
  private readonly apiKey: string;
  /** Weights of domains that have their own, from the documents put here. */
  private readonly weightsOf = new Map<string, FieldWeights>();
  private isClosed = false;
  private isThere = false;

  constructor({ collection = "keyhole_entries", ...options }: TypesenseIndexOptions) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(collection)) {
      const reason = "`collection` must consist of letters, digits, - and _";
      throw problem("INVALID_INPUT", { operation: "createTypesenseIndex", reason });
    }
    this.send = createTypesenseClient(options);
    this.collection = collection;
    this.path = `/collections/${collection}`;
    this.apiKey = options.apiKey;
  }

  async put(documents: readonly SearchDocument[]): Promise<void> {
    this.checkOpen();
    await this.makeCollection();
    this.noteWeights(documents);
    const { shown, hidden } = newestOf(documents);
    await this.drop(hidden);
    for (const batch of inBatches(shown, BATCH)) await this.writeBatch(batch);
  }

  async drop(ids: readonly string[]): Promise<void> {
    this.checkOpen();
    for (const batch of inBatches(ids, DROP_BATCH)) {
      const listed = batch.map((id) => `\`${resourceId(id)}\``);
      const filter = encodeURIComponent(`id:[${listed.join(",")}]`);
      const path = `${this.path}/documents?filter_by=${filter}`;
      const answer = await this.send({ method: "DELETE", path, isWrite: true });
      if (answer.status === 404) return;
      if (answer.status !== 200) throw unexpected(answer, this.apiKey);
    }
  }

  async reset(): Promise<void> {
    this.checkOpen();
    this.isThere = false;
    const dropped = await this.send({ method: "DELETE", path: this.path, isWrite: true });
    if (dropped.status !== 200 && dropped.status !== 404) throw unexpected(dropped, this.apiKey);
    await this.makeCollection();
  }

  async search(request: SearchRequest): Promise<SearchHit[]> {
    this.checkOpen();
    const limit = limitOf(request);
    const words = queryText(request.query);
    if (limit === 0 || words === "") return [];
    return toHits(await this.searchAll(words, request.filter, limit), request, limit);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  private checkOpen(): void {
    if (this.isClosed) throw problem("CLOSED");
  }

  private async makeCollection(): Promise<void> {
    if (this.isThere) return;
    const { collection, apiKey } = this;
    const existing = await this.send({ method: "GET", path: this.path });
    if (existing.status === 404) {
      const body = JSON.stringify(collectionSchema(collection));
      const created = await this.send({ method: "POST", path: "/collections", body, isWrite: true });
      // 409: another gateway created it first.
      if (created.status !== 201 && created.status !== 200 && created.status !== 409)
        throw unexpected(created, apiKey);
    } else if (existing.status !== 200) throw unexpected(existing, apiKey);
    else checkSchema(collection, parseJson(existing.text));
    this.isThere = true;
  }

  private async writeBatch(documents: readonly SearchDocument[]): Promise<void> {
    const body = documents.map((document) => JSON.stringify(toResourceDocument(document))).join("\n");
    const path = `${this.path}/documents/import?action=upsert`;
    const answer = await this.send({ method: "POST", path, body, isWrite: true });
    if (answer.status !== 200) throw unexpected(answer, this.apiKey);
    const refused = answer.text.split("\n").filter((line) => line !== "" && !isTaken(line));
    if (refused.length === 0) return;
    const reason = `${refused.length} documents were refused: ${withoutKey(refused[0]!, this.apiKey)}`;
    throw problem("INTERNAL", { name: "Typesense", reason });
  }

  /** Reads pages of every part until each has enough matching documents. */
  private async searchAll(words: string, filter: SearchFilter, limit: number): Promise<FoundPage> {
    const { collection } = this;
    const size = Math.min(MAX_PER_PAGE, Math.max(50, 2 * limit));
    const passing: FoundDocument[] = [];
    let parts = searchParts(filter, this.weightsOf);
    const counts = new Map(parts.map((part) => [part, 0]));
    for (let number = 1; number <= MAX_PAGES && parts.length > 0; number++) {
      const searches = parts.map((part) => searchParams(collection, words, part, { number, size }));
      const body = JSON.stringify({ searches });
      const answer = await this.send({ method: "POST", path: "/multi_search", body });
      const pages = pagesOf(answer, collection, this.apiKey);
      parts = parts.filter((part, at) => {
        const page = pages[at] ?? [];
        // The engine accepts any of the scopes where all are needed, and compares loosely.
        const passed = page.filter(facetTest(toFilterValues(part.filter)));
        const count = counts.get(part)! + passed.length;
        counts.set(part, count);
        passing.push(...passed);
        return page.length === size && count < limit;
      });
    }
    return passing.sort((one, other) => other.match - one.match);
  }

  private noteWeights(documents: readonly SearchDocument[]): void {
    for (const { domain, weights } of documents) {
      if (weights && Object.keys(weights).length > 0) this.weightsOf.set(domain, weights);
      else this.weightsOf.delete(domain);
    }
  }
}

function isTaken(line: string): boolean {
  return (parseJson(line) as { success?: unknown } | undefined)?.success === true;
}

interface FoundDocument extends Facet {
  readonly uri: string;
  readonly name: string;
  /** The engine's score. */
  readonly match: number;
}
type FoundPage = readonly FoundDocument[];

function pagesOf(answer: EngineAnswer, collection: string, apiKey: string): FoundPage[] {
  if (answer.status !== 200) throw unexpected(answer, apiKey);
  const { results } = (parseJson(answer.text) as MultiSearchAnswer | undefined) ?? {};
  if (results === undefined) throw unexpected(answer, apiKey);
  return results.map(({ code, error, hits }) => {
    const [, missing] = /field named `([^`]+)`/.exec(error ?? "") ?? [];
    if (missing !== undefined) throw otherSchema(collection, `lacks the field ${missing}`);
    // The collection does not exist before the first put.
    if (code === 404) return [];
    if (hits === undefined) {
      throw unexpected({ status: code ?? answer.status, text: error ?? answer.text }, apiKey);
    }
    return hits.map(({ document, text_match = 0 }) => ({ ...document, match: text_match }));
  });
}

/** Undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface MultiSearchAnswer {
  readonly results?: readonly {
    readonly code?: number;
    readonly error?: string;
    readonly hits?: readonly { readonly document: FoundDocument; readonly text_match?: number }[];
  }[];
}

/** A filter in the values of the collection. */
function toFilterValues({ scopes, domain, kinds, categories, tags }: SearchFilter): SearchFilter {
  return {
    scopes: scopes.map(toFilterValue),
    ...(domain !== undefined && { domain: toFilterValue(domain) }),
    ...(kinds && { kinds }),
    ...(categories && { categories: categories.map(toFilterValue) }),
    ...(tags && { tags: tags.map(toFilterValue) }),
  };
}

/** Puts documents first whose name is the query. Only the rank counts: the engine's scores have no fixed scale. */
function toHits(documents: readonly FoundDocument[], request: SearchRequest, limit: number): SearchHit[] {
  const key = nameKey(request.query);
  const isNamed = (document: FoundDocument): boolean => nameKey(fromStoredText(document.name)) === key;
  const isWritten = (document: FoundDocument): boolean => fromStoredText(document.name) === request.query;
  const rankOf = (document: FoundDocument): number => (isWritten(document) ? 0 : isNamed(document) ? 1 : 2);
  const ordered = [...documents].sort((one, other) => rankOf(one) - rankOf(other));
  return ordered.slice(0, limit).map(({ uri }, at) => ({ id: fromStoredText(uri), score: 1 / (at + 1) }));
}

/** Compares an existing collection with the schema that searches need. */
function checkSchema(collection: string, schema: unknown): void {
  const types = new Map(
    listOf(field(schema, "fields")).map((one) => [field(one, "name"), field(one, "type")]),
  );
  for (const { name, type, optional } of collectionSchema(collection).fields) {
    if (types.has(name) ? types.get(name) === type : optional) continue;
    const lack = types.has(name) ? `has another type for the field ${name}` : `lacks the field ${name}`;
    throw otherSchema(collection, lack);
  }
}

function otherSchema(collection: string, lack: string): Problem {
  const choice = "name another `collection`, or call rebuild() of the gateway's sources";
  const reason = `another program made it: it ${lack}. Either ${choice}, which drops it with everything in it and creates it anew.`;
  return unavailable(`The collection ${collection} of Typesense`, "another schema", reason);
}

interface CollectionField {
  readonly name: string;
  readonly type: string;
  readonly optional?: boolean;
  readonly facet?: boolean;
  readonly sort?: boolean;
}

/** The schema that the collection is created with. */
function collectionSchema(name: string) {
  const text = (field: string, more: object = {}): CollectionField => ({
    name: field,
    type: "string",
    ...more,
  });
  const fields: CollectionField[] = [
    // Sortable, so that ties go by id.
    text("uri", { sort: true }),
    text("domain", { facet: true }),
    text("path", { index: false, optional: true }),
    text("path_segment", { facet: true }),
    text("name"),
    text("description"),
    text("content"),
    { name: "scopes", type: "string[]", facet: true },
    { name: "is_unrestricted", type: "bool", facet: true },
    text("kind", { facet: true }),
    text("resource_type", { facet: true }),
    text("source_id", { facet: true, optional: true }),
    { name: "quality_score", type: "int32", sort: true, optional: true },
    { name: "indexed_at", type: "int64", sort: true, optional: true },
    text("category", { facet: true, optional: true }),
    { name: "tags", type: "string[]", facet: true },
    { name: "name_keys", type: "string[]" },
    ...WORD_FIELDS.map((field) => text(field.name)),
  ];
  return { name, enable_nested_fields: false, fields };
}
