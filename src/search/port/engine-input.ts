// Shared by all engines for reading their input.
import type { SearchDocument, SearchRequest } from "./search-index.ts";

const MAX_LIMIT = 1_000;

/** The maximum number of hits of a search. */
export function limitOf({ limit }: SearchRequest): number {
  return Math.min(MAX_LIMIT, Math.max(0, Math.floor(limit) || 0));
}

/** The newest document of each id: the visible ones, and the ids of hidden ones. */
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

/** Splits items into batches of at most `size`. */
export function inBatches<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}
