import { expect, test } from "vitest";
import { takeTurns } from "./arrange.ts";
import { cutWhereRelevanceFalls } from "./rank.ts";

const hits = (...scores: number[]) => scores.map((score) => ({ score }));

test("one hit far above the others is sure and shown alone", () => {
  expect(cutWhereRelevanceFalls(hits(1, 0.4, 0.3))).toBe(1);
});

test("hits near the best are kept, whatever the scale of scores", () => {
  expect(cutWhereRelevanceFalls(hits(20, 19, 15, 6, 5))).toBe(3);
});

test("a list that never falls is cut at the most", () => {
  expect(cutWhereRelevanceFalls(hits(...Array(30).fill(1)))).toBe(12);
  expect(cutWhereRelevanceFalls(hits(1, 1, 1), { most: 2 })).toBe(2);
});

test("in a long list only hits that stand out from the background are shown", () => {
  const flat = hits(1, 0.75, 0.65, ...Array(17).fill(0.6));
  expect(cutWhereRelevanceFalls(flat)).toBe(2);
  expect(cutWhereRelevanceFalls(flat, { share: 0.1 })).toBe(3);
});

test("nothing found shows nothing", () => {
  expect(cutWhereRelevanceFalls([])).toBe(0);
});

test("a need whose first hit another need has already shown gets a hit of its own", () => {
  const search = { entries: ["graph", "search", "open"] };
  const remove = { entries: ["graph", "delete", "forget"] };
  const sum = { entries: ["sum"] };
  expect(takeTurns([search, remove, sum], 3)).toEqual(["graph", "delete", "sum"]);
  expect(takeTurns([search, remove, sum], 5)).toEqual(["graph", "delete", "sum", "search", "forget"]);
});
