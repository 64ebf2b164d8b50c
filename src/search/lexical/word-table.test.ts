import fc from "fast-check";
import { expect, test } from "vitest";
import { WordTable } from "./document-postings.ts";

test("a table of words answers as a map does, however many words it has", () => {
  const words = fc.uniqueArray(fc.string({ unit: "binary", minLength: 1, maxLength: 6 }), {
    maxLength: 3_000,
  });
  fc.assert(
    fc.property(words, fc.string(), (list, before) => {
      const table = new WordTable<number>();
      for (const [value, word] of list.entries()) {
        const text = `${before}${word}|`;
        const end = before.length + word.length;
        expect(table.get(text, before.length, end)).toBeUndefined();
        table.add(text, before.length, end, value);
      }
      for (const [value, word] of list.entries()) expect(table.get(word, 0, word.length)).toBe(value);
    }),
    { numRuns: 20, examples: [[Array.from({ length: 2_500 }, (_, at) => `w${at}`), "in "]] },
  );
});
