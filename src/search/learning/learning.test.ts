import { expect, test } from "vitest";
import { createLearning, type Learning } from "./learning.ts";

const HITS = [
  { id: "a", score: 1 },
  { id: "b", score: 0.8 },
  { id: "c", score: 0.5 },
];

const ask = (query: string, shown: string[], conversation = "c") =>
  ({ kind: "asked", scope: "s", principal: "asking", conversation, query, shown }) as const;
const use = (route: string, conversation = "c") =>
  ({ kind: "used", scope: "s", principal: "asking", conversation, route }) as const;

const CALLER = { scope: "s", conversation: "asking", principal: "asking" };

/** How far learning raises an entry for a query that search itself finds `hits` for. */
async function liftOf(learning: Learning, query: string, route: string, hits = HITS, scope = "s") {
  const before = hits.find((hit) => hit.id === route)?.score ?? 0;
  const after =
    (await learning.lift({ ...CALLER, scope }, query, hits)).find((hit) => hit.id === route)?.score ?? 0;
  return after - before;
}
const firstOf = async (learning: Learning, query: string, hits = HITS) =>
  (await learning.lift(CALLER, query, hits))[0]?.id;

async function useOnce(learning: Learning, query: string, route: string, conversation = "c") {
  await learning.lift(CALLER, query, HITS);
  learning.note(ask(query, ["a", "b"], conversation));
  learning.note(use(route, conversation));
}

test("an entry that ran after a query comes first for like queries, in its scope only", async () => {
  const learning = createLearning();
  await useOnce(learning, "settle the bill of a customer", "b");
  expect(await firstOf(learning, "settle the bill of a customer")).toBe("b");
  expect(await firstOf(learning, "settle a customer's bill")).toBe("b");
  expect(await liftOf(learning, "pay a customer's bill", "b")).toBeGreaterThan(0.1);
  expect(await liftOf(learning, "weather in Rome tomorrow", "b")).toBeLessThan(0.05);
  expect(await liftOf(learning, "settle the bill of a customer", "b", HITS, "another scope")).toBe(0);
});

test("past use brings in an entry that search did not find", async () => {
  const learning = createLearning();
  await useOnce(learning, "ring the bell", "unfound");
  expect(await firstOf(learning, "ring the bell")).toBe("unfound");
});

test("an entry that was neither shown nor found comes in only for the same need or by two agreeing asks", async () => {
  const learning = createLearning();
  await useOnce(learning, "two accounts seem to belong to one customer", "stray", "one");
  expect(await liftOf(learning, "who is behind these accounts", "stray")).toBe(0);
  expect(await liftOf(learning, "which accounts have the same owner", "stray")).toBe(0);
  expect(await firstOf(learning, "do two accounts belong to one customer")).toBe("stray");
  await useOnce(learning, "do these accounts share an owner", "stray", "two");
  expect(await liftOf(learning, "which accounts have the same owner", "stray")).toBeGreaterThan(0.5);
});

test("a single distant example raises an entry less than a near one", async () => {
  const learning = createLearning();
  await useOnce(learning, "settle the bill of a customer", "b");
  const near = await liftOf(learning, "settle the bill of our customer", "b");
  const distant = await liftOf(learning, "customer address", "b");
  expect(near).toBeGreaterThan(0.2);
  expect(distant).toBeLessThan(near / 4);
});

test("a use of what search ranks first anyway leaves the order as it is", async () => {
  const learning = createLearning();
  await useOnce(learning, "send an invoice", "a");
  const after = await learning.lift(CALLER, "send an invoice", HITS);
  expect(after.map((hit) => hit.id)).toEqual(["a", "b", "c"]);
});

/** A catalog of pairs: search ranks the wrong one of each first. */
const PAIRS = ["flights", "hotels", "invoices", "contacts", "tickets", "songs"];
const pairOf = (thing: string) => [
  { id: `wrong-${thing}`, score: 1 },
  { id: `right-${thing}`, score: 0.6 },
];

async function teachPairs(
  learning: Learning,
  times: number,
  routeOf: (thing: string, time: number) => string,
) {
  for (let time = 0; time < times; time++) {
    for (const thing of PAIRS) {
      const query = `please deal with ${thing} number${time}`;
      const conversation = `${thing}-${time}`;
      await learning.lift(CALLER, query, pairOf(thing));
      learning.note(ask(query, [`wrong-${thing}`, `right-${thing}`], conversation));
      learning.note(use(routeOf(thing, time), conversation));
    }
  }
}

test("where past use has been right, distant neighbours count more; where it has been wrong, less", async () => {
  const right = createLearning();
  await teachPairs(right, 12, (thing) => `right-${thing}`);
  const erratic = createLearning();
  await teachPairs(erratic, 12, (thing, time) => `${time % 2 === 0 ? "right" : "wrong"}-${thing}`);
  const query = "somehow deal with flights again";
  const lift = await liftOf(right, query, "right-flights", pairOf("flights"));
  expect(lift).toBeGreaterThan(await liftOf(erratic, query, "right-flights", pairOf("flights")));
  expect(await firstOf(right, query, pairOf("flights"))).toBe("right-flights");
});

test("one wrong use among several right ones does not undo them", async () => {
  const learning = createLearning();
  await teachPairs(learning, 5, (thing, time) => `${time === 2 ? "wrong" : "right"}-${thing}`);
  expect(await firstOf(learning, "deal with hotels please", pairOf("hotels"))).toBe("right-hotels");
});

test("entries that an ask led to beside another one do not count as passed over", async () => {
  const learning = createLearning();
  await learning.lift(CALLER, "book and pay", HITS);
  learning.note(ask("book and pay", ["a", "b"]));
  learning.note(use("b"));
  learning.note(use("a"));
  const after = await learning.lift(CALLER, "book and pay", HITS);
  expect(after.map((hit) => hit.id)).toEqual(["a", "b", "c"]);
});

test("a failed call speaks against the entry", async () => {
  const learning = createLearning();
  await useOnce(learning, "send an invoice", "b", "one");
  learning.note(ask("send an invoice", ["a", "b"], "two"));
  learning.note({ kind: "failed", scope: "s", principal: "asking", conversation: "two", route: "b" });
  expect(await firstOf(learning, "send an invoice")).toBe("a");
});

test("a use that was followed by another for the same need counts against its entry", async () => {
  const learning = createLearning();
  await useOnce(learning, "send invoice", "b");
  await useOnce(learning, "send the invoice", "c");
  expect(await liftOf(learning, "send invoice", "c")).toBeGreaterThan(0.1);
  expect(await liftOf(learning, "send invoice", "b")).toBe(0);
});

test("each query of one ask is credited with the entry that was found for it", async () => {
  const learning = createLearning();
  const found = (route: string): [string, number][] => [
    ["x", 1],
    [route, 0.5],
  ];
  const shown = ["x", "y", "z"];
  learning.note({ ...ask("book a flight", shown), found: found("y") });
  learning.note({ ...ask("send an invoice", shown), found: found("z") });
  learning.note(use("y"));
  learning.note(use("z"));
  const hits = shown.map((id) => ({ id, score: 1 }));
  expect(await firstOf(learning, "book a flight", hits)).toBe("y");
  expect(await firstOf(learning, "send an invoice", hits)).toBe("z");
});

test("examples fade with age", async () => {
  let now = 0;
  const learning = createLearning({ now: () => now });
  await useOnce(learning, "ring the bell", "b");
  const fresh = await liftOf(learning, "ring the bell", "b");
  now += 365 * 24 * 3_600_000;
  expect(await liftOf(learning, "ring the bell", "b")).toBeLessThan(fresh);
});

test("calls long after a query, or in another conversation, teach nothing", async () => {
  let now = 0;
  const learning = createLearning({ now: () => now });
  learning.note(ask("send invoice", ["a"]));
  learning.note(use("a", "other"));
  now += 11 * 60_000;
  learning.note(use("a"));
  expect(await learning.lift(CALLER, "send invoice", HITS)).toEqual(HITS);
});

test("what often follows is told after the third time", async () => {
  const learning = createLearning();
  for (let time = 0; time < 3; time++) {
    expect(await learning.after("s", "a", "asking")).toEqual([]);
    learning.note(use("a"));
    learning.note(use("b"));
  }
  expect(await learning.after("s", "a", "asking")).toEqual(["b"]);
});

test("what often follows the last use ranks a little higher in that conversation, if search finds it", async () => {
  const learning = createLearning();
  const mine = { ...CALLER, conversation: "c" };
  const hits = [
    { id: "x", score: 1 },
    { id: "b", score: 0.95 },
  ];
  const idsFor = async (caller: typeof mine, found = hits) =>
    (await learning.lift(caller, "ring the bell", found)).map((hit) => hit.id);
  for (let time = 0; time < 3; time++) {
    learning.note(use("a"));
    learning.note(use("b"));
  }
  expect(await idsFor(mine)).toEqual(["x", "b"]);
  learning.note(use("a"));
  expect(await idsFor(mine)).toEqual(["b", "x"]);
  expect(await idsFor(mine, [{ id: "x", score: 1 }])).toEqual(["x"]);
  expect(
    await idsFor(mine, [
      { id: "x", score: 1 },
      { id: "b", score: 0.8 },
    ]),
  ).toEqual(["x", "b"]);
  expect(await idsFor({ ...mine, conversation: "another" })).toEqual(["x", "b"]);
  expect(await idsFor({ ...mine, scope: "another" })).toEqual(["x", "b"]);
});

test("queries that nothing shown has met are reported, most often asked first", async () => {
  let now = 0;
  const learning = createLearning({ now: () => now });
  learning.note(ask("book flight", []));
  learning.note(ask("Book flight", []));
  learning.note(ask("send invoice", ["a"]));
  learning.note(use("a"));
  learning.note(ask("make coffee", ["a"]));
  learning.note(use("elsewhere"));
  expect((await learning.unmet()).map(({ query, times }) => [query, times])).toEqual([["Book flight", 2]]);
  now += 11 * 60_000;
  expect(await learning.unmet()).toMatchObject([
    { query: "Book flight", times: 2, empty: true },
    { query: "make coffee", times: 1, empty: false },
  ]);
});
