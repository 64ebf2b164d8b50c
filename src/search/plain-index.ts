import { splitWords } from "../util/split-words.ts";
import type { SearchDocument, SearchFilter, SearchHit, SearchIndex } from "./search-index.ts";

interface Indexed {
  readonly document: SearchDocument;
  readonly frequencies: ReadonlyMap<string, number>;
  readonly length: number;
}

const K1 = 1.2;
const B = 0.75;

/** Ranks by BM25 over all the text of a document, with the name counted thrice. For small catalogs. */
export function createPlainIndex(): SearchIndex {
  const indexed = new Map<string, Indexed>();
  return {
    put: async (documents) => {
      for (const document of documents) indexed.set(document.id, toIndexed(document));
    },
    drop: async (ids) => {
      for (const id of ids) indexed.delete(id);
    },
    search: async ({ query, limit, filter }) => {
      const candidates = [...indexed.values()].filter(({ document }) => passes(document, filter));
      return rank(candidates, [...new Set(terms(query))]).slice(0, limit);
    },
    close: async () => indexed.clear(),
  };
}

function rank(candidates: readonly Indexed[], query: readonly string[]): SearchHit[] {
  const mean = candidates.reduce((sum, { length }) => sum + length, 0) / Math.max(1, candidates.length);
  const scores = new Map<string, number>();
  for (const term of query) {
    const holders = candidates.filter(({ frequencies }) => frequencies.has(term));
    const rarity = Math.log(1 + (candidates.length - holders.length + 0.5) / (holders.length + 0.5));
    for (const { document, frequencies, length } of holders) {
      const frequency = frequencies.get(term) ?? 0;
      const weight = (frequency * (K1 + 1)) / (frequency + K1 * (1 - B + (B * length) / mean));
      scores.set(document.id, (scores.get(document.id) ?? 0) + rarity * weight);
    }
  }
  return [...scores]
    .map(([id, score]) => ({ id, score }))
    .sort((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1));
}

function passes(document: SearchDocument, filter: SearchFilter): boolean {
  return (
    document.visibility !== "hidden" &&
    document.scopes.every((scope) => filter.scopes.includes(scope)) &&
    (filter.domain === undefined || filter.domain === document.domain) &&
    (filter.kinds === undefined || filter.kinds.includes(document.kind)) &&
    (filter.categories === undefined || filter.categories.includes(document.category ?? "")) &&
    (filter.tags ?? []).every((tag) => document.tags.includes(tag))
  );
}

function toIndexed(document: SearchDocument): Indexed {
  const { name, aliases, description, parameters, domainText, content } = document;
  const words = terms([name, name, name, ...aliases, description, parameters, domainText, content].join(" "));
  const frequencies = new Map<string, number>();
  for (const word of words) frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
  return { document, frequencies, length: words.length };
}

function terms(text: string): string[] {
  return splitWords(text).map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
}
