// How every engine reads what it is given.
import type { SearchDocument, SearchRequest } from "./search-index.ts";

const MAX_LIMIT = 1_000;

/** How many hits a search is to give. */
export function limitOf({ limit }: SearchRequest): number {
  return Math.min(MAX_LIMIT, Math.max(0, Math.floor(limit) || 0));
}

/** The newest document of each id: those that can be found, and the ids of hidden ones. */
export function newestOf(documents: readonly SearchDocument[]): {
  shown: SearchDocument[];
  hidden: string[];
} {
  const newest = [...new Map(documents.map((document) => [document.id, document])).values()];
  const hidden = newest.filter(({ visibility }) => visibility === "hidden");
  return {
    shown: newest.filter(({ visibility }) => visibility !== "hidden"),
    hidden: hidden.map(({ id }) => id),
  };
}

/** The items in pieces of at most `size`. */
export function inBatches<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}
