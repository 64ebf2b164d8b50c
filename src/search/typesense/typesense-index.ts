import { problem } from "../../schema/problem.ts";
import { nameKey } from "../lexical/name-key.ts";
import type {
  SearchDocument,
  SearchFilter,
  SearchHit,
  SearchIndex,
  SearchRequest,
} from "../port/search-index.ts";
import { fromStoredText } from "../port/stored-text.ts";
import { collectionSchema } from "./collection-schema.ts";
import {
  type ResourceDocument,
  resourceId,
  routeOf,
  toFilterValue,
  toResourceDocument,
} from "./resource-document.ts";
import { MAX_PER_PAGE, queryText, searchParams } from "./search-params.ts";
import {
  createTypesenseClient,
  type TypesenseAnswer,
  type TypesenseOptions,
  unexpected,
  withoutKey,
} from "./typesense-client.ts";

/** Options of {@link createTypesenseIndex}. */
export interface TypesenseIndexOptions extends TypesenseOptions {
  /** Default: `mcp_resources`. */
  readonly collection?: string;
}

const BATCH = 200;
/** Small, because the ids of a request go in its URL. */
const DROP_BATCH = 20;
const MAX_PAGES = 40;
const MAX_LIMIT = 1_000;

/**
 * Opens a search index in a Typesense collection, which the first put creates. It searches by words only. See
 * {@link SearchIndex}.
 *
 * @throws INVALID_INPUT if the URL or the collection name is malformed
 * @example
 * ```ts no-run
 * import { createGateway } from "keyhole";
 * import { createTypesenseIndex } from "keyhole/search";
 *
 * const index = createTypesenseIndex({ url: "http://127.0.0.1:8108", apiKey: process.env.TYPESENSE_KEY ?? "" });
 * const gateway = createGateway({ domains: [], index });
 * ```
 */
export function createTypesenseIndex(options: TypesenseIndexOptions): SearchIndex {
  const { collection = "mcp_resources", apiKey } = options;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(collection)) {
    const reason = "`collection` must consist of letters, digits, - and _";
    throw problem("INVALID_INPUT", { operation: "createTypesenseIndex", reason });
  }
  const send = createTypesenseClient(options);
  const path = `/collections/${collection}`;
  let closed = false;
  let isThere = false;

  function checkOpen(): void {
    if (closed) throw problem("CLOSED");
  }

  async function makeCollection(): Promise<void> {
    if (isThere) return;
    const found = await send({ method: "GET", path });
    if (found.status === 404) {
      const body = JSON.stringify(collectionSchema(collection));
      const made = await send({ method: "POST", path: "/collections", body, isWrite: true });
      // 409: another gateway created it first.
      if (made.status !== 201 && made.status !== 200 && made.status !== 409) throw unexpected(made, apiKey);
    } else if (found.status !== 200) throw unexpected(found, apiKey);
    isThere = true;
  }

  async function writeBatch(documents: readonly SearchDocument[]): Promise<void> {
    const body = documents.map((document) => JSON.stringify(toResourceDocument(document))).join("\n");
    const request = {
      method: "POST" as const,
      path: `${path}/documents/import?action=upsert`,
      body,
      isWrite: true,
    };
    const answer = await send(request);
    if (answer.status !== 200) throw unexpected(answer, apiKey);
    const refused = answer.text.split("\n").filter((line) => line !== "" && !isTaken(line));
    if (refused.length === 0) return;
    const reason = `${refused.length} documents were refused: ${withoutKey(refused[0]!, apiKey)}`;
    throw problem("INTERNAL", { name: "Typesense", reason });
  }

  async function drop(ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += DROP_BATCH) {
      const listed = ids.slice(from, from + DROP_BATCH).map((id) => `\`${resourceId(id)}\``);
      const filter = encodeURIComponent(`id:[${listed.join(",")}]`);
      const request = {
        method: "DELETE" as const,
        path: `${path}/documents?filter_by=${filter}`,
        isWrite: true,
      };
      const answer = await send(request);
      if (answer.status === 404) return;
      if (answer.status !== 200) throw unexpected(answer, apiKey);
    }
  }

  async function searchPage(
    words: string,
    filter: SearchFilter,
    number: number,
    size: number,
  ): Promise<FoundPage> {
    const body = JSON.stringify({ searches: [searchParams(collection, words, filter, { number, size })] });
    const answer = await send({ method: "POST", path: "/multi_search", body });
    return pageOf(answer, apiKey);
  }

  return {
    async put(documents) {
      checkOpen();
      await makeCollection();
      const newest = [...new Map(documents.map((document) => [document.id, document])).values()];
      await drop(newest.filter(({ visibility }) => visibility === "hidden").map(({ id }) => id));
      const shown = newest.filter(({ visibility }) => visibility !== "hidden");
      for (let from = 0; from < shown.length; from += BATCH)
        await writeBatch(shown.slice(from, from + BATCH));
    },

    async drop(ids) {
      checkOpen();
      await drop(ids);
    },

    async search(request) {
      checkOpen();
      const limit = Math.min(MAX_LIMIT, Math.max(0, Math.floor(request.limit) || 0));
      const words = queryText(request.query);
      if (limit === 0 || words === "") return [];
      const size = Math.min(MAX_PER_PAGE, Math.max(50, 2 * limit));
      const passing: FoundDocument[] = [];
      for (let page = 1; page <= MAX_PAGES && passing.length < limit; page++) {
        const found = await searchPage(words, request.filter, page, size);
        passing.push(...found.filter((document) => passes(document, request.filter)));
        if (found.length < size) break;
      }
      return toHits(passing, request, limit);
    },

    async close() {
      closed = true;
    },
  };
}

function isTaken(line: string): boolean {
  return (parseJson(line) as { success?: unknown } | undefined)?.success === true;
}

type FoundDocument = Pick<
  ResourceDocument,
  "uri" | "name" | "domain" | "scopes" | "kind" | "category" | "tags"
>;
type FoundPage = readonly FoundDocument[];

function pageOf(answer: TypesenseAnswer, apiKey: string): FoundPage {
  if (answer.status !== 200) throw unexpected(answer, apiKey);
  const [result] = (parseJson(answer.text) as MultiSearchAnswer | undefined)?.results ?? [];
  // The collection does not exist before the first put.
  if (result?.code === 404) return [];
  if (result?.hits === undefined) {
    throw unexpected({ status: result?.code ?? answer.status, text: result?.error ?? answer.text }, apiKey);
  }
  return result.hits.map(({ document }) => document);
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
    readonly hits?: readonly { readonly document: FoundDocument }[];
  }[];
}

/** Checks every hit again: the engine accepts any one of the scopes where all are needed, and compares loosely. */
function passes(document: FoundDocument, filter: SearchFilter): boolean {
  const scopes = new Set(filter.scopes.map(toFilterValue));
  const { domain, kinds, categories, tags = [] } = filter;
  return (
    document.scopes.every((scope) => scopes.has(scope)) &&
    (domain === undefined || document.domain === toFilterValue(domain)) &&
    (kinds === undefined || kinds.some((kind) => kind === document.kind)) &&
    (categories === undefined || categories.map(toFilterValue).includes(document.category)) &&
    tags.every((tag) => document.tags.includes(toFilterValue(tag)))
  );
}

/** Puts documents whose name is the query first. Scores give the rank only: the engine's have no fixed scale. */
function toHits(documents: readonly FoundDocument[], request: SearchRequest, limit: number): SearchHit[] {
  const key = nameKey(request.query);
  const isNamed = (document: FoundDocument): boolean => nameKey(fromStoredText(document.name)) === key;
  const isWritten = (document: FoundDocument): boolean => fromStoredText(document.name) === request.query;
  const rankOf = (document: FoundDocument): number => (isWritten(document) ? 0 : isNamed(document) ? 1 : 2);
  const ordered = [...documents].sort((one, other) => rankOf(one) - rankOf(other));
  return ordered.slice(0, limit).map(({ uri }, at) => ({ id: routeOf(uri), score: 1 / (at + 1) }));
}
