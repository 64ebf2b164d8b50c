import { expect, test } from "vitest";
import { createEmbeddedIndex } from "../search/embedded-index.ts";
import type { SearchIndex } from "../search/port/search-index.ts";
import { describeIndex, INDEX_BEHAVIOURS } from "./describe-index.ts";

test("passes a right index and fails wrong ones", async () => {
  expect(await failuresOf(() => createEmbeddedIndex())).toEqual([]);
  expect(await failuresOf(forgetful)).toContain("what is put is found");
  expect(await failuresOf(leaking)).toEqual(
    expect.arrayContaining([
      "all scopes of a document must be the caller's",
      "a filter narrows by domain, kind, category and tags",
      "filter values are taken as they are",
    ]),
  );
});

test("names skipped behaviours with the reason, and refuses unknown ones", async () => {
  const [behaviour] = INDEX_BEHAVIOURS;
  const skipped: string[] = [];
  const runner = {
    describe: (_: string, body: () => void) => body(),
    test: Object.assign(() => {}, { skip: (name: string) => skipped.push(name) }),
  };
  describeIndex("any", forgetful, runner, { skip: { [behaviour!]: "too slow" } });
  expect(skipped).toEqual([`${behaviour} (skipped: too slow)`]);
  expect(() => describeIndex("any", forgetful, runner, { skip: { misspelt: "why" } })).toThrow("misspelt");
});

/** Runs the suite and returns the names of failed behaviours. */
async function failuresOf(create: () => SearchIndex): Promise<string[]> {
  const bodies: [string, () => Promise<void>][] = [];
  describeIndex("any", create, {
    describe: (_, body) => body(),
    test: (name, body) => bodies.push([name, body]),
  });
  const failures: string[] = [];
  for (const [name, body] of bodies) await body().catch(() => failures.push(name));
  return failures;
}

function forgetful(): SearchIndex {
  return { put: async () => {}, drop: async () => {}, search: async () => [], close: async () => {} };
}

function leaking(): SearchIndex {
  const index = createEmbeddedIndex();
  const scopes = ["read", "write", "secret"];
  return { ...index, search: ({ query, limit }) => index.search({ query, limit, filter: { scopes } }) };
}
