import { expect, test } from "vitest";
import { takeTurns } from "./arrange.ts";
import { cutWhereRelevanceFalls, expandQuery, rankDestroyingLast } from "./rank.ts";
import { createStaticEmbedder } from "./vectors/static-embedder.ts";

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

test("hits that destroy go behind the others that stand out, and before the rest", () => {
  const found = [
    { id: "delete", score: 1 },
    { id: "update", score: 0.95 },
    { id: "purge", score: 0.9 },
    { id: "get", score: 0.8 },
    { id: "unrelated", score: 0.1 },
  ];
  const isDestroying = (id: string) => id === "delete" || id === "purge";
  const order = rankDestroyingLast(found, isDestroying).map(({ id }) => id);
  expect(order).toEqual(["update", "get", "delete", "purge", "unrelated"]);
  // A hit that stands out alone stays first.
  expect(rankDestroyingLast([found[0]!, found[4]!], isDestroying)[0]?.id).toBe("delete");
});

test("a query asks to destroy something by any form of the word, in the languages that are read", async () => {
  const embedder = createStaticEmbedder();
  const asks = async (query: string) => (await expandQuery(query, embedder)).asksToDestroy;
  for (const query of [
    "delete it",
    "without deleting the node",
    "was it erased?",
    "get rid of it",
    "удали папку",
  ])
    expect(await asks(query), query).toBe(true);
  for (const query of ["mark it as done", "erstelle eine Aufgabe"])
    expect(await asks(query), query).toBe(false);
  for (const query of ["删除文件", "حذف الملف"]) expect(await asks(query), query).toBeUndefined();
});

test("a need whose first hit another need has already shown gets a hit of its own", () => {
  const search = { entries: ["graph", "search", "open"] };
  const remove = { entries: ["graph", "delete", "forget"] };
  const sum = { entries: ["sum"] };
  expect(takeTurns([search, remove, sum], 3)).toEqual(["graph", "delete", "sum"]);
  expect(takeTurns([search, remove, sum], 5)).toEqual(["graph", "delete", "sum", "search", "forget"]);
});
