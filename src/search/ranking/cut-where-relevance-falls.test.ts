import { expect, test } from "vitest";
import { cutWhereRelevanceFalls } from "./cut-where-relevance-falls.ts";

const hits = (...scores: number[]) => scores.map((score) => ({ score }));

test("one hit far above the others is sure and shown alone", () => {
  expect(cutWhereRelevanceFalls(hits(1, 0.4, 0.3))).toEqual({ keep: 1, sure: true });
});

test("hits near the best are kept, whatever the scale of scores", () => {
  expect(cutWhereRelevanceFalls(hits(20, 19, 15, 6, 5))).toEqual({ keep: 3, sure: false });
});

test("a list that never falls is cut at the most", () => {
  expect(cutWhereRelevanceFalls(hits(...Array(30).fill(1)))).toEqual({ keep: 12, sure: false });
  expect(cutWhereRelevanceFalls(hits(1, 1, 1), { most: 2 }).keep).toBe(2);
});

test("a lower share shows more; nothing found shows nothing", () => {
  expect(cutWhereRelevanceFalls(hits(1, 0.45, 0.4), { share: 0.4 }).keep).toBe(3);
  expect(cutWhereRelevanceFalls([])).toEqual({ keep: 0, sure: false });
});
