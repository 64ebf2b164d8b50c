import assert from "node:assert/strict";
import { type Behaviour, documentOf, idsOf, SURROUNDINGS } from "./index-behaviour.ts";

const ODD_QUERIES: readonly string[] = [
  "",
  " \t\n",
  "the of and to",
  "😀🎉",
  "\0",
  "wal\0rus",
  "\ud800",
  "walrus \udfff",
  ".*+?^$ {}()|[]\\",
  "(a+)+$",
  '"',
  "'",
  "`",
  "\\",
  "'; DROP TABLE keyhole; --",
  "' OR 1=1 --",
  "scopes:=[x] || is_unrestricted:=true",
  "a & b | !c <-> d:*",
  "NEAR(a b) AND OR NOT *",
  "%_%",
  "$1 $$ $ {x} {{y}}",
  "-walrus",
  "__proto__",
  "constructor toString hasOwnProperty",
  "\u202e\u200b\ufeff",
  "ﷺ".repeat(100),
  `a${"\u0301".repeat(2_000)}`,
  "x".repeat(1_000_000),
  "word ".repeat(200_000),
  "天".repeat(300_000),
  "_".repeat(500_000),
  "aB".repeat(300_000),
];

const ODD_IDS: readonly string[] = [
  "__proto__",
  "constructor",
  "toString",
  "it's",
  'say "hi"',
  "back\\slash",
  "a`b",
  "a/b?c=d#e%20",
  "日本語://ツール/天気",
  "😀",
  "with space ",
  "$1",
  "{a,b}",
  "null",
  "%_",
  "../../etc/passwd",
  "line\nbreak",
];

export const HOSTILE: readonly Behaviour[] = [
  {
    name: "odd queries are answered",
    documents: [...SURROUNDINGS, documentOf({ id: "doc", name: "walrus" })],
    check: async (index) => {
      for (const query of ODD_QUERIES) {
        const hits = await index.search({ query, limit: 5, filter: { scopes: [] } });
        assert.ok(Array.isArray(hits) && hits.length <= 5, JSON.stringify(query.slice(0, 40)));
      }
      assert.deepEqual(await idsOf(index, "walrus"), ["doc"]);
    },
  },
  {
    name: "a query without words finds nothing",
    documents: [...SURROUNDINGS, documentOf({ id: "doc", name: "walrus" })],
    check: async (index) => {
      for (const query of ["", " \t\n", "\0", "!?…", "*"])
        assert.deepEqual(await idsOf(index, query), [], query);
    },
  },
  {
    name: "odd ids and names are kept as they are",
    documents: [...SURROUNDINGS, ...ODD_IDS.map((id) => documentOf({ id, description: "a walrus" }))],
    check: async (index) => {
      assert.deepEqual((await idsOf(index, "walrus", {}, 50)).sort(), [...ODD_IDS].sort());
      for (const id of ["__proto__", "constructor", "toString"]) {
        assert.ok((await idsOf(index, id)).includes(id), `"${id}" is found by its name`);
      }
      await index.drop(ODD_IDS.slice(1));
      assert.deepEqual(await idsOf(index, "walrus"), ODD_IDS.slice(0, 1));
    },
  },
  {
    name: "odd text does not keep a document from being found",
    check: async (index) => {
      const odd = [
        "\0",
        "\ud800",
        "\udc00 \ud83d",
        "'; DROP TABLE x; --",
        "\\",
        "`",
        "\u202e",
        "{{x}}",
        "\ufffe",
      ];
      const documents = odd.map((text, at) => {
        const all = `${text} walrus ${text}`;
        return documentOf({
          id: `doc-${at}`,
          name: `name ${text}`,
          aliases: [all],
          description: all,
          parameters: all,
          domainText: all,
          content: all,
          tags: [text],
        });
      });
      await index.put(documents);
      assert.deepEqual((await idsOf(index, "walrus")).sort(), documents.map(({ id }) => id).sort());
    },
  },
  {
    name: "a document of great length is kept, and found by its beginning",
    documents: [
      ...SURROUNDINGS,
      documentOf({ id: "long", name: "walrus", content: `penguin ${"lorem ipsum dolor ".repeat(60_000)}` }),
      documentOf({ id: "wide", name: "giraffe", content: "z".repeat(1_000_000) }),
      documentOf({
        id: "many",
        name: "leopard",
        aliases: Array.from({ length: 5_000 }, (_, at) => `alias${at}`),
      }),
    ],
    check: async (index) => {
      assert.deepEqual(await idsOf(index, "walrus"), ["long"]);
      assert.deepEqual(await idsOf(index, "penguin"), ["long"]);
      assert.deepEqual(await idsOf(index, "giraffe"), ["wide"]);
      assert.deepEqual(await idsOf(index, "leopard"), ["many"]);
    },
  },
];
