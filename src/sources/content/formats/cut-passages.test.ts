import fc from "fast-check";
import { expect, test } from "vitest";
import { cutPassages } from "./to-node.ts";

const prose = fc
  .array(
    fc.constantFrom(
      "word",
      "another",
      "a",
      "é",
      "👩‍👩‍👧",
      "日本語。",
      ". ",
      " ",
      "\n",
      "\n\n",
      "x".repeat(90),
      "😀",
    ),
  )
  .map((parts) => parts.join(""));
const anyText = fc.oneof(
  prose,
  fc.string({ unit: "binary", maxLength: 500 }),
  fc.string({ unit: "grapheme" }),
);

test("passages join to the whole text; none is too long or empty", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 16, max: 200 }), (text, limit) => {
      const passages = cutPassages(text, limit);
      expect(passages.join("")).toBe(text);
      for (const passage of passages) {
        expect(passage.length).toBeGreaterThan(0);
        expect(passage.length).toBeLessThanOrEqual(limit);
      }
    }),
  );
});

test("no character is cut in two", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 16, max: 64 }), (text, limit) => {
      for (const passage of cutPassages(text.toWellFormed(), limit))
        expect(passage.isWellFormed()).toBe(true);
    }),
  );
});

test("words that fit into a passage stay whole", () => {
  const words = fc.array(fc.stringMatching(/^[a-z.]{1,16}$/), { maxLength: 60 });
  fc.assert(
    fc.property(words, fc.integer({ min: 16, max: 80 }), (list, limit) => {
      const text = list.join(" ");
      const found = cutPassages(text, limit).flatMap((passage) => passage.split(/\s+/).filter(Boolean));
      expect(found).toEqual(list);
    }),
  );
});

test("a paragraph is a better end than a line, and a sentence better than a word", () => {
  const first = "One sentence here. And another one.";
  expect(cutPassages(`${first}\n\nThe next paragraph\nof two lines.`, 60)).toEqual([
    `${first}\n\n`,
    "The next paragraph\nof two lines.",
  ]);
  expect(cutPassages("A first sentence ends. Then words that go on", 30)).toEqual([
    "A first sentence ends. ",
    "Then words that go on",
  ]);
});

test("a megabyte without a blank is cut", () => {
  const passages = cutPassages("x".repeat(1_000_000));
  expect(passages.length).toBe(Math.ceil(1_000_000 / 1_200));
});
