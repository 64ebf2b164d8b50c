import assert from "node:assert/strict";
import type { SearchDocument } from "../../search/port/search-index.ts";
import { type Behaviour, bestIs, documentOf, idsOf, SURROUNDINGS } from "./index-behaviour.ts";

export const STORING: readonly Behaviour[] = [
  {
    name: "an empty index finds nothing",
    check: async (index) => {
      assert.deepEqual(await idsOf(index, "anything at all"), []);
      await index.put([]);
      await index.drop([]);
      await index.drop(["never-put"]);
      assert.deepEqual(await idsOf(index, "anything at all"), []);
    },
  },
  {
    name: "what is put is found",
    documents: [...SURROUNDINGS, documentOf({ id: "pay", description: "Refund a customer payment" })],
    check: bestIs({ "refund payment": "pay" }),
  },
  {
    name: "every field is looked into",
    documents: [
      ...SURROUNDINGS,
      walrus("one"),
      documentOf({ id: "two", aliases: ["other name", "penguin"] }),
      documentOf({ id: "three", description: "about the giraffe" }),
      documentOf({ id: "four", parameters: "id of the leopard" }),
      documentOf({ id: "five", domainText: "all for the squirrel" }),
      documentOf({ id: "six", content: "a long story of a hedgehog" }),
    ],
    check: bestIs({
      walrus: "one",
      penguin: "two",
      giraffe: "three",
      leopard: "four",
      squirrel: "five",
      hedgehog: "six",
    }),
  },
  {
    name: "a field of weight 0 is not looked into",
    documents: [{ id: "plain" }, { id: "without", weights: { content: 0 } }].map((document) =>
      documentOf({ ...document, description: "shared giraffe", content: "hedgehog" }),
    ),
    check: async (index) => {
      assert.deepEqual((await idsOf(index, "giraffe")).sort(), ["plain", "without"]);
      assert.deepEqual(await idsOf(index, "hedgehog"), ["plain"]);
    },
  },
  {
    name: "a document replaces the one with its id",
    documents: [walrus("doc"), ...SURROUNDINGS],
    check: async (index) => {
      await index.put([documentOf({ id: "doc", name: "penguin", domain: "zoo" })]);
      assert.deepEqual(await idsOf(index, "walrus"), []);
      assert.deepEqual(await idsOf(index, "penguin"), ["doc"]);
      assert.deepEqual(await idsOf(index, "penguin", { domain: "zoo" }), ["doc"]);
      assert.deepEqual(await idsOf(index, "penguin", { domain: "shop" }), []);
    },
  },
  {
    name: "of the same id twice in one put, the last stays",
    documents: [walrus("doc"), ...SURROUNDINGS, documentOf({ id: "doc", name: "penguin" })],
    check: async (index) => {
      assert.deepEqual(await idsOf(index, "walrus"), []);
      assert.deepEqual(await idsOf(index, "penguin"), ["doc"]);
    },
  },
  {
    name: "what is dropped is not found, and the rest is",
    documents: [walrus("a"), walrus("b")],
    check: async (index) => {
      await index.drop(["a", "never-put"]);
      assert.deepEqual(await idsOf(index, "walrus"), ["b"]);
      await index.put([walrus("a")]);
      assert.deepEqual(await idsOf(index, "walrus"), ["a", "b"]);
    },
  },
  {
    name: "many small puts equal one large put",
    check: async (large, fresh) => {
      const documents = manyDocuments(120);
      const small = await fresh();
      await large.put(documents);
      await small.put(documents.map((document) => ({ ...document, description: "written over" })));
      for (let from = 0; from < documents.length; from += 7) await small.put(documents.slice(from, from + 7));
      for (const query of ["merge report", "invoice 17", "delete_invoice_40", "copy the user of the north"]) {
        assert.deepEqual(await idsOf(small, query), await idsOf(large, query), query);
      }
    },
  },
  {
    name: "2,000 documents go in one put",
    check: async (index) => {
      const documents = manyDocuments(2_000);
      await index.put(documents);
      for (const at of [0, 777, 1_234, 1_999]) {
        assert.equal((await idsOf(index, documents[at]!.name))[0], documents[at]!.id);
      }
      assert.equal((await idsOf(index, "invoice", {}, 100)).length, 100);
      await index.drop(documents.map(({ id }) => id));
      assert.deepEqual(await idsOf(index, "invoice"), []);
    },
  },
  {
    name: "puts, drops and searches run at the same time",
    check: async (index) => {
      const documents = manyDocuments(200);
      await index.put(documents.slice(0, 20));
      const puts = Array.from({ length: 18 }, (_, at) =>
        index.put(documents.slice(20 + at * 10, 30 + at * 10)),
      );
      const searches = Array.from({ length: 20 }, () => idsOf(index, "invoice", {}, 50));
      await Promise.all([...puts, index.drop(documents.slice(0, 10).map(({ id }) => id))]);
      for (const found of await Promise.all(searches)) assert.equal(new Set(found).size, found.length);
      const remaining = documents.slice(10).map(({ id }) => id);
      assert.deepEqual((await idsOf(index, "region", {}, 300)).sort(), remaining.sort());
    },
  },
];

function walrus(id: string, fields: Partial<SearchDocument> = {}): SearchDocument {
  return documentOf({ id, name: "walrus", ...fields });
}

/** Creates documents of distinct names that share many words. */
function manyDocuments(count: number): SearchDocument[] {
  const verbs = ["create", "delete", "merge", "copy", "export"];
  const nouns = ["invoice", "report", "user", "ticket", "order", "parcel", "contract"];
  const places = ["north", "south", "east", "west"];
  return Array.from({ length: count }, (_, at) => {
    const [verb, noun, place] = [verbs, nouns, places].map((words) => words[at % words.length]);
    return documentOf({
      id: `shop://tools/${noun}/${at}`,
      name: `${verb}_${noun}_${at}`,
      description: `${verb} the ${noun} of the ${place} region`,
    });
  });
}

export const FILTERING: readonly Behaviour[] = [
  {
    name: "hidden documents are never found",
    documents: [
      ...SURROUNDINGS,
      walrus("shown", { visibility: "entry" }),
      walrus("hidden", { visibility: "hidden" }),
      walrus("turns"),
    ],
    check: async (index) => {
      assert.deepEqual(await idsOf(index, "walrus"), ["shown", "turns"]);
      await index.put([walrus("turns", { visibility: "hidden" })]);
      assert.deepEqual(await idsOf(index, "walrus"), ["shown"]);
      await index.put([walrus("turns")]);
      assert.deepEqual(await idsOf(index, "walrus"), ["shown", "turns"]);
    },
  },
  {
    name: "all scopes of a document must be the caller's",
    documents: [
      ...SURROUNDINGS,
      walrus("free"),
      walrus("one", { scopes: ["read"] }),
      walrus("two", { scopes: ["read", "write"] }),
    ],
    check: async (index) => {
      const found = (scopes: string[]) => idsOf(index, "walrus", { scopes });
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
    check: async (index) => {
      const better = Array.from({ length: 300 }, (_, at) =>
        walrus(`better-${at}`, { scopes: ["read", "write"] }),
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
    documents: [
      walrus("a", { domain: "sea", category: "cold", tags: ["big", "grey"] }),
      walrus("b", { domain: "sea", kind: "resource", tags: ["big"] }),
      walrus("c", { domain: "zoo", kind: "skill", category: "warm", tags: ["grey"] }),
      walrus("d", { domain: "zoo", kind: "prompt" }),
    ],
    check: async (index) => {
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
    check: async (index) => {
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
      const documents = odd.map((value, at) =>
        walrus(`doc-${at}`, { domain: value, scopes: [value], tags: [value], category: value }),
      );
      await index.put([...documents, walrus("locked", { scopes: ["secret"] })]);
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
