import type { SearchDocument } from "../src/search/port/search-index.ts";

const K1 = 1.2;
const B = 0.75;

/** The baseline: plain BM25 over description and name, with names split into words. */
export function createPlainBm25(documents: readonly SearchDocument[]): (query: string) => string[] {
  const postings = new Map<string, Map<number, number>>();
  const lengths = documents.map(({ name, description }, document) => {
    const words = wordsOf(`${name} ${description}`);
    for (const word of words) {
      const list = postings.get(word) ?? new Map<number, number>();
      postings.set(word, list.set(document, (list.get(document) ?? 0) + 1));
    }
    return words.length;
  });
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  return (query) => {
    const scores = new Map<number, number>();
    for (const word of wordsOf(query)) {
      const list = postings.get(word);
      if (list === undefined) continue;
      const rarity = Math.log(1 + (documents.length - list.size + 0.5) / (list.size + 0.5));
      for (const [document, count] of list) {
        const norm = K1 * (1 - B + (B * lengths[document]!) / average);
        scores.set(document, (scores.get(document) ?? 0) + (rarity * count * (K1 + 1)) / (count + norm));
      }
    }
    const order = [...scores].sort((one, other) => other[1] - one[1] || one[0] - other[0]);
    return order.slice(0, 10).map(([document]) => documents[document]!.id);
  };
}

function wordsOf(text: string): string[] {
  return (
    text
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  );
}
