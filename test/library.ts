import {
  type ContentFormat,
  type ContentSource,
  createGateway,
  defineDomain,
  type FetchContext,
  type Gateway,
  type GatewayOptions,
} from "keyhole";
import { onTestFinished } from "vitest";

export interface Library extends ContentSource {
  /** Texts by id. The text is also the version, unless versions are off. */
  readonly books: Map<string, string>;
  /** Ids in the order of fetching. */
  readonly fetched: string[];
  listed: number;
  /** The id of a book that cannot be fetched. */
  broken?: string | undefined;
  /** Fetches wait for this promise. */
  gate?: Promise<void> | undefined;
}

/** A content source in memory that records its fetches. */
export function createLibrary(
  books: Record<string, string>,
  { name = "library", isLocal = false, versions = true } = {},
): Library {
  const library: Library = {
    name,
    isLocal,
    books: new Map(Object.entries(books)),
    fetched: [],
    listed: 0,
    listDocuments: async () => {
      library.listed += 1;
      return [...library.books].map(([id, text]) => ({
        id,
        name: id,
        contentType: "text/plain",
        ...(versions && { version: text }),
      }));
    },
    fetchContent: async (id: string, context?: FetchContext) => {
      library.fetched.push(id);
      await library.gate;
      context?.signal.throwIfAborted();
      if (id === library.broken) throw new Error(`the shelf of ${id} fell down`);
      return { id, name: id, contentType: "text/plain", content: library.books.get(id) ?? "" };
    },
  };
  return library;
}

const plainText: ContentFormat = {
  name: "text",
  canHandle: () => true,
  parse: ({ id, name, content }, basePath) => [{ id, name, path: `${basePath}${id}`, content }],
};

export function libraryDomain(...sources: readonly (ContentSource | [ContentSource, object])[]) {
  return defineDomain({
    name: "books",
    description: "Books to read.",
    extractors: sources.map((given) => {
      const [source, options] = Array.isArray(given) ? given : [given, {}];
      return { source, formats: [plainText], ...options };
    }),
  });
}

export function openLibrary(
  library: Library,
  options: Partial<GatewayOptions> = {},
  pipeline: object = {},
): Gateway {
  const gateway = createGateway({ domains: [libraryDomain([library, pipeline])], ...options });
  onTestFinished(() => gateway.close());
  return gateway;
}

export async function readBook(gateway: Gateway, id: string): Promise<unknown> {
  const { results } = await gateway.get({ routes: [{ route: `books://resources/${id}` }] });
  const [result] = results;
  return result?.ok ? result.data?.content : result?.error?.code;
}
