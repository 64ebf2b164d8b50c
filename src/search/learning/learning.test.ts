import { appendFileSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLearning } from "./learning.ts";

const termsOf = (query: string) => query.split(" ").filter((word) => word !== "");
const path = () => join(mkdtempSync(join(tmpdir(), "keyhole-")), "deep", "learning.jsonl");
const ask = (query: string, shown: string[], conversation = "c") =>
  ({ kind: "asked", scope: "s", conversation, query, shown }) as const;
const use = (route: string, conversation = "c") =>
  ({ kind: "used", scope: "s", conversation, route }) as const;

test("what ran after a query is more likely for like queries, surer with every time, never sure", () => {
  const learning = createLearning(termsOf);
  const seen: number[] = [];
  for (let time = 0; time < 5; time++) {
    learning.note(ask("send invoice", ["a", "b"]));
    learning.note(use("b"));
    seen.push(learning.prior("s", "send invoice").get("b") ?? 0);
  }
  expect(seen).toEqual(seen.toSorted());
  expect(seen.at(-1)).toBeLessThan(1);
  expect(learning.prior("s", "send letter").get("b")).toBeLessThan(seen.at(-1)!);
  expect(learning.prior("s", "other words").size).toBe(0);
  expect(learning.prior("another scope", "send invoice").size).toBe(0);
});

test("calls long after a query, or in another conversation, teach nothing", () => {
  let now = 0;
  const learning = createLearning(termsOf, { now: () => now });
  learning.note(ask("send invoice", ["a"]));
  learning.note(use("a", "other"));
  now += 11 * 60_000;
  learning.note(use("a"));
  expect(learning.prior("s", "send invoice").size).toBe(0);
});

test("what often follows is told after the third time", () => {
  const learning = createLearning(termsOf);
  for (let time = 0; time < 3; time++) {
    expect(learning.after("s", "a")).toEqual([]);
    learning.note(use("a"));
    learning.note(use("b"));
  }
  expect(learning.after("s", "a")).toEqual(["b"]);
});

test("queries that nothing shown has met are reported, most often asked first", () => {
  let now = 0;
  const learning = createLearning(termsOf, { now: () => now });
  learning.note(ask("book flight", []));
  learning.note(ask("Book flight", []));
  learning.note(ask("send invoice", ["a"]));
  learning.note(use("a"));
  learning.note(ask("make coffee", ["a"]));
  learning.note(use("elsewhere"));
  expect(learning.unmet().map(({ query, times }) => [query, times])).toEqual([["Book flight", 2]]);
  now += 11 * 60_000;
  expect(learning.unmet()).toMatchObject([
    { query: "Book flight", times: 2, empty: true },
    { query: "make coffee", times: 1, empty: false },
  ]);
});

test("a replayed log gives the same state; damaged lines are passed over", () => {
  const word = fc.constantFrom("a", "b", "c");
  const event = fc.oneof(
    fc
      .tuple(fc.array(word), fc.array(word), word)
      .map(([words, shown, talk]) => ask(words.join(" "), shown, talk)),
    fc.tuple(word, word).map(([route, talk]) => use(route, talk)),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 100 }), (events) => {
      const log = path();
      const first = createLearning(termsOf, { log });
      for (const each of events) first.note(each);
      first.close();
      if (events.length > 0) appendFileSync(log, '{"kind":"asked"\n\u0000\n{"kind":"used","route":7}\n');
      const second = createLearning(termsOf, { log });
      for (const query of ["a", "b c", "a b c"])
        expect([...second.prior("s", query)]).toEqual([...first.prior("s", query)]);
      for (const route of ["a", "b", "c"]) expect(second.after("s", route)).toEqual(first.after("s", route));
      expect(second.unmet().map(({ query, times }) => [query, times])).toEqual(
        first.unmet().map(({ query, times }) => [query, times]),
      );
      if (events.length > 0) expect(readFileSync(log, "utf8").trim().split("\n")).toHaveLength(events.length);
    }),
    { numRuns: 50 },
  );
});

test("a log that cannot be written breaks nothing", () => {
  const learning = createLearning(termsOf, { log: "/dev/null/learning.jsonl" });
  learning.note(ask("a", ["a"]));
  learning.note(use("a"));
  learning.close();
  expect(learning.prior("s", "a").get("a")).toBeGreaterThan(0);
});
