import { expect, test } from "vitest";
import { liftByPhrases } from "./phrase-lift.ts";

const HITS = [
  { id: "plain", score: 1 },
  { id: "phrased", score: 0.7 },
];

test("an entry comes first for a query that is like one of its phrases", async () => {
  const entries = [{ route: "phrased", phrases: ["show purchases", "what did I buy"] }];
  expect((await liftByPhrases("show my purchases", HITS, entries))[0]?.id).toBe("phrased");
  expect((await liftByPhrases("What did I buy?", HITS, entries))[0]?.id).toBe("phrased");
});

test("the best phrase counts: many others that share a word each do not add up", async () => {
  const words = "order invoice customer delivery return refund address price stock supplier".split(" ");
  const phrases = words.flatMap((one) => words.map((other) => `${one} report for every ${other} last year`));
  const entries = [{ route: "phrased", phrases }];
  const [first] = await liftByPhrases("refund an order to a customer", HITS, entries);
  expect(first?.id).toBe("plain");
});

test("entries without phrases change nothing", async () => {
  expect(await liftByPhrases("show purchases", HITS, [{ route: "plain", phrases: [] }])).toEqual(HITS);
});
