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

test("a phrase that is only near to the query moves no entry without phrases", async () => {
  const hits = ["one", "two", "phrased", "three"].map((id, at) => ({ id, score: 1 - at / 10 }));
  const entries = [{ route: "phrased", phrases: ["show purchases of a customer"] }];
  const found = await liftByPhrases("show the addresses of a customer", hits, entries);
  expect(found.map(({ id }) => id)).toEqual(hits.map(({ id }) => id));
});

test("entries that share a phrase with the query do not push others out together: one comes first", async () => {
  const hits = ["one", "two", "three", "four", "five", "a", "b", "c"].map((id, at) => ({
    id,
    score: 1 - at / 10,
  }));
  const entries = ["a", "b", "c"].map((route) => ({ route, phrases: ["show purchases"] }));
  const found = (await liftByPhrases("show my purchases", hits, entries)).map(({ id }) => id);
  expect(found.slice(0, 5)).toEqual(["a", "one", "two", "three", "four"]);
});

test("a phrase that lacks the word which tells needs apart is not nearly the query", async () => {
  const hits = ["one", "two", "three", "four", "five", "phrased"].map((id, at) => ({
    id,
    score: 1 - at / 10,
  }));
  const phrases = ["file system, create or write file", "file system, read file", "file system, copy file"];
  const entries = [{ route: "phrased", phrases }];
  const found = await liftByPhrases("file system or markdown, create or write markdown file", hits, entries);
  expect(found.slice(0, 5).map(({ id }) => id)).toEqual(["one", "two", "three", "four", "five"]);
});

test("where phrases of different entries are much alike, likeness alone does not say which entry is meant", async () => {
  const things = Array.from({ length: 60 }, (_, number) => `item${number}`);
  const alike = things.flatMap((thing) => [
    { route: `get-${thing}`, phrases: [`please show me the ${thing} of the customer now`] },
    { route: `list-${thing}`, phrases: [`please show me the ${thing} of this customer today`] },
  ]);
  const hits = [
    { id: "plain", score: 1 },
    { id: "get-item7", score: 0.7 },
  ];
  const query = "please show me the item7 of a customer";
  expect((await liftByPhrases(query, hits, alike))[0]?.id).toBe("plain");
  expect((await liftByPhrases(query, hits, [alike[14]!]))[0]?.id).toBe("get-item7");
});

test("where phrases are more like those of other entries than like their own, only the phrase itself leads", async () => {
  const mixed = [
    { route: "get", phrases: ["the price of the stock today", "opening hours of a museum"] },
    { route: "phrased", phrases: ["the price of a stock last week", "opening hours of the museums"] },
  ];
  const apart = [
    { route: "get", phrases: ["opening hours of a museum", "opening hours of the museums"] },
    { route: "phrased", phrases: ["the price of the stock today", "the price of a stock last week"] },
  ];
  const hits = [
    { id: "get", score: 1 },
    { id: "phrased", score: 0.7 },
  ];
  const query = "price of my stock in the last month";
  expect((await liftByPhrases(query, hits, apart))[0]?.id).toBe("phrased");
  expect((await liftByPhrases(query, hits, mixed))[0]?.id).toBe("get");
  expect((await liftByPhrases("the price of a stock last week", hits, mixed))[0]?.id).toBe("phrased");
});
