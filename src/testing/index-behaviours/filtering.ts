import assert from "node:assert/strict";
import { type Behaviour, documentOf, idsOf, SURROUNDINGS } from "./index-behaviour.ts";

export const FILTERING: readonly Behaviour[] = [
  {
    name: "hidden documents are never found",
    check: async (fresh) => {
      const index = await fresh();
      await index.put([
        ...SURROUNDINGS,
        documentOf({ id: "shown", name: "walrus", visibility: "entry" }),
        documentOf({ id: "hidden", name: "walrus", visibility: "hidden" }),
        documentOf({ id: "turns", name: "walrus" }),
      ]);
      assert.deepEqual(await idsOf(index, "walrus"), ["shown", "turns"]);
      await index.put([documentOf({ id: "turns", name: "walrus", visibility: "hidden" })]);
      assert.deepEqual(await idsOf(index, "walrus"), ["shown"]);
      await index.put([documentOf({ id: "turns", name: "walrus" })]);
      assert.deepEqual(await idsOf(index, "walrus"), ["shown", "turns"]);
    },
  },
  {
    name: "all scopes of a document must be the caller's",
    check: async (fresh) => {
      const index = await fresh();
      await index.put([
        ...SURROUNDINGS,
        documentOf({ id: "free", name: "walrus" }),
        documentOf({ id: "one", name: "walrus", scopes: ["read"] }),
        documentOf({ id: "two", name: "walrus", scopes: ["read", "write"] }),
      ]);
      const found = (scopes: string[]): Promise<string[]> => idsOf(index, "walrus", { scopes });
      assert.deepEqual(await found([]), ["free"]);
      assert.deepEqual(await found(["other"]), ["free"]);
      assert.deepEqual(await found(["write"]), ["free"]);
      assert.deepEqual(await found(["read"]), ["free", "one"]);
      assert.deepEqual(await found(["write", "other", "read"]), ["free", "one", "two"]);
      assert.deepEqual(await found(["READ", "rea", "read write", "read,write", "*"]), ["free"]);
    },
  },
  {
    name: "what the caller may not see takes no place in the list",
    check: async (fresh) => {
      const index = await fresh();
      const better = Array.from({ length: 300 }, (_, at) =>
        documentOf({ id: `better-${at}`, name: "walrus", scopes: ["read", "write"] }),
      );
      const worse = Array.from({ length: 5 }, (_, at) =>
        documentOf({ id: `worse-${at}`, name: `other_${at}`, description: "a walrus too", scopes: ["read"] }),
      );
      await index.put([...better, ...worse, ...SURROUNDINGS]);
      const expected = worse.map(({ id }) => id);
      assert.deepEqual((await idsOf(index, "walrus", { scopes: ["read"] }, 5)).sort(), expected);
      assert.deepEqual((await idsOf(index, "walrus", { scopes: ["read"] }, 10)).sort(), expected);
    },
  },
  {
    name: "a filter narrows by domain, kind, category and tags",
    check: async (fresh) => {
      const index = await fresh();
      await index.put([
        documentOf({ id: "a", name: "walrus", domain: "sea", category: "cold", tags: ["big", "grey"] }),
        documentOf({ id: "b", name: "walrus", domain: "sea", kind: "resource", tags: ["big"] }),
        documentOf({
          id: "c",
          name: "walrus",
          domain: "zoo",
          kind: "skill",
          category: "warm",
          tags: ["grey"],
        }),
        documentOf({ id: "d", name: "walrus", domain: "zoo", kind: "prompt" }),
      ]);
      const cases: [Parameters<typeof idsOf>[2], string[]][] = [
        [{}, ["a", "b", "c", "d"]],
        [{ domain: "sea" }, ["a", "b"]],
        [{ domain: "se" }, []],
        [{ kinds: ["tool"] }, ["a"]],
        [{ kinds: ["skill", "prompt"] }, ["c", "d"]],
        [{ categories: ["cold"] }, ["a"]],
        [{ categories: ["cold", "warm"] }, ["a", "c"]],
        [{ categories: ["mild"] }, []],
        [{ tags: [] }, ["a", "b", "c", "d"]],
        [{ tags: ["big"] }, ["a", "b"]],
        [{ tags: ["grey", "big"] }, ["a"]],
        [{ domain: "zoo", kinds: ["skill"], categories: ["warm"], tags: ["grey"] }, ["c"]],
        [{ domain: "sea", kinds: ["skill"] }, []],
      ];
      for (const [filter, expected] of cases) {
        assert.deepEqual(await idsOf(index, "walrus", filter), expected, JSON.stringify(filter));
      }
    },
  },
  {
    name: "filter values are taken as they are",
    check: async (fresh) => {
      const index = await fresh();
      const odd = [
        "a`b",
        "x] || y:=[z",
        "it's",
        'say "hi"',
        "back\\slash",
        "a,b",
        "日本",
        "a b ",
        "$1",
        "(&&)",
        "*",
      ];
      const documents = odd.map((value, at) => {
        const id = `doc-${String(at).padStart(2, "0")}`;
        return documentOf({
          id,
          name: "walrus",
          domain: value,
          scopes: [value],
          tags: [value],
          category: value,
        });
      });
      await index.put([...documents, documentOf({ id: "locked", name: "walrus", scopes: ["secret"] })]);
      for (const [at, value] of odd.entries()) {
        const own = [documents[at]!.id];
        assert.deepEqual(await idsOf(index, "walrus", { scopes: [value] }), own, value);
        const others = { scopes: odd };
        assert.deepEqual(await idsOf(index, "walrus", { ...others, domain: value }), own, value);
        assert.deepEqual(await idsOf(index, "walrus", { ...others, tags: [value] }), own, value);
        assert.deepEqual(await idsOf(index, "walrus", { ...others, categories: [value] }), own, value);
      }
      for (const value of ["`] || scopes:=[`secret", "secret`", "' or '1'='1", "{secret}", "NULL", ""]) {
        assert.deepEqual(await idsOf(index, "walrus", { scopes: [value] }), [], value);
      }
    },
  },
];
