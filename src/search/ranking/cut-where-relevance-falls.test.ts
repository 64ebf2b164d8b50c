import { expect, test } from "vitest";
import { cutWhereRelevanceFalls } from "./cut-where-relevance-falls.ts";

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

test("a lower share shows more; nothing found shows nothing", () => {
  expect(cutWhereRelevanceFalls(hits(1, 0.45, 0.4), { share: 0.4 })).toBe(3);
  expect(cutWhereRelevanceFalls([])).toBe(0);
});
