import { expect, test } from "vitest";
import { changedWords } from "./approval-lines.ts";
import { wrapWords } from "./wrap-text.ts";

test("words stay whole, line breaks and indentation stay, and long words are broken", () => {
  expect(wrapWords("one two three\n  - four five six\n\nseven", 9)).toEqual([
    "one two",
    "three",
    "  - four",
    "five six",
    "",
    "seven",
  ]);
  expect(wrapWords("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
});

test("a change shows the words that changed with a few around them", () => {
  const text = "one two three four five six seven eight nine ten";
  expect(changedWords(`${text} old ${text}`, `${text} new ${text}`)).toEqual([
    { sign: "-", text: "… five six seven eight nine ten old one two three four five six …" },
    { sign: "+", text: "… five six seven eight nine ten new one two three four five six …" },
  ]);
});

test("no changed word is left out, however many places changed", () => {
  const words = Array.from({ length: 300 }, (_, index) => `w${index}`);
  const changed = words.map((word, index) => (index % 7 === 0 ? `changed${index}` : word));
  const shown = changedWords(words.join(" "), changed.join(" "))!;
  const added = shown.filter(({ sign }) => sign === "+").map(({ text }) => text);
  const removed = shown.filter(({ sign }) => sign === "-").map(({ text }) => text);
  for (let index = 0; index < 300; index += 7) {
    expect(added.join(" ").split(/\s+/)).toContain(`changed${index}`);
    expect(removed.join(" ").split(/\s+/)).toContain(`w${index}`);
  }
});
