import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PostgresClient } from "../../core/storage/postgres-client.ts";
import { createEmbeddedIndex } from "../../search/embedded-index.ts";
import type { SearchFilter, SearchRequest } from "../../search/port/search-index.ts";
import type { Embedder } from "../../search/vectors/embedder.ts";
import { createStaticEmbedder } from "../../search/vectors/static-embedder.ts";
import { describeIndex } from "../../testing/describe-index.ts";
import { documentOf, idsOf, SURROUNDINGS } from "../../testing/index-behaviours/index-behaviour.ts";
import { createPostgresIndex, type PostgresIndex, type PostgresIndexOptions } from "./postgres-index.ts";

const pglite = new PGlite({ extensions: { vector } });
let tables = 0;

function create(options: Partial<PostgresIndexOptions> = {}): PostgresIndex {
  return createPostgresIndex({ client: pglite, table: `t${tables++}`, ...options });
}

beforeAll(() => pglite.waitReady, 120_000);
afterAll(() => pglite.close());

describeIndex("PostgreSQL in process", () => create(), { describe, test });

describe("createPostgresIndex", () => {
  test("refuses a table that is not a plain name", () => {
    for (const table of ["", "a b", "a;drop table x", 'a"b', "A", "1a", "a.b.c", "é", "a".repeat(41), "a'"]) {
      expect(() => create({ table }), table).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    }
  });

  test("keeps to the schema it is given", async () => {
    await pglite.exec("create schema apart");
    const index = create({ table: "apart.words" });
    await index.put([documentOf({ id: "doc", name: "walrus" })]);
    expect(await idsOf(index, "walrus")).toEqual(["doc"]);
    const { rows } = await pglite.query("select count(*)::int as count from apart.words_v6");
    expect(rows).toEqual([{ count: 1 }]);
  });

  test("a reader creates nothing, finds nothing before a writer came, and then sees its documents", async () => {
    const table = "late_writer";
    const statements: string[] = [];
    const reader = create({ table, client: watched(statements) });
    expect(await idsOf(reader, "walrus")).toEqual([]);
    await reader.drop(["doc"]);
    expect(statements.filter((sql) => /create|insert/i.test(sql))).toEqual([]);
    await create({ table }).put([documentOf({ id: "doc", name: "walrus" })]);
    expect(await idsOf(reader, "walrus")).toEqual(["doc"]);
  });

  test("leaves writing to others if told to", async () => {
    const table = "read_only";
    const reader = create({ table, readOnly: true });
    await reader.put(SURROUNDINGS);
    expect(await idsOf(reader, "garage door")).toEqual([]);
    await create({ table }).put(SURROUNDINGS);
    await reader.drop(["open_door"]);
    expect(await idsOf(reader, "garage door")).toEqual(["open_door"]);
  });

  test("does not write unchanged documents again", async () => {
    const statements: string[] = [];
    const index = create({ client: watched(statements) });
    await index.put(SURROUNDINGS);
    statements.length = 0;
    await index.put(SURROUNDINGS);
    expect(statements.filter((sql) => sql.includes("_put"))).toEqual([]);
    await index.put(SURROUNDINGS.map((document) => ({ ...document, scopes: ["locked"] })));
    expect(await idsOf(index, "garage door")).toEqual([]);
  });

  test("keeps its counts exact over puts, replacements and drops", async () => {
    const index = create({ table: "counted" });
    await index.put(SURROUNDINGS);
    const scopes = ["b", "a", "b"];
    await index.put(
      SURROUNDINGS.map((document) => ({ ...document, description: "all the same now", scopes })),
    );
    await index.put([{ ...SURROUNDINGS[1]!, scopes: ["a", "b"] }]);
    await index.put(
      SURROUNDINGS.slice(3).map((document) => ({ ...document, visibility: "hidden" as const })),
    );
    await index.drop([SURROUNDINGS[0]!.id]);
    const { rows } = await pglite.query(`
      select (select sum(documents) from counted_v6_state)::int as documents,
        (select count(*) from counted_v6_postings)::int as postings,
        (select sum(length(packed)) / 4 from counted_v6_blocks)::int as packed,
        (select sum(documents) from counted_v6_terms)::int as counted,
        (select count(*) from counted_v6_terms t where documents <>
          (select count(*) from counted_v6_postings p join counted_v6 d on d.number = p.document
            where p.term = t.term and d.scopes = t.scopes))::int as wrong`);
    expect(rows[0]).toMatchObject({ documents: 2, wrong: 0 });
    const { postings } = rows[0] as { postings: number };
    expect(rows[0]).toMatchObject({ counted: postings, packed: postings });
  });

  test("preserves ids that the database cannot store as text", async () => {
    const ids = ["nul\0", "half\ud800", "\udc00half", "\ue000", "\ue0000000", "plain"];
    const index = create();
    await index.put(ids.map((id) => documentOf({ id, name: "walrus" })));
    expect((await idsOf(index, "walrus")).sort()).toEqual([...ids].sort());
    await index.drop(ids.slice(1));
    expect(await idsOf(index, "walrus")).toEqual(ids.slice(0, 1));
  });

  test("ranks like the embedded engine", async () => {
    const [index, embedded] = [create(), createEmbeddedIndex()];
    const verbs = ["create", "delete", "find", "send", "archive"];
    const nouns = ["invoice", "weather report", "user", "email", "calendar event", "库存报告", "Überweisung"];
    const documents = Array.from({ length: 300 }, (_, at) => {
      const verb = verbs[at % 5]!;
      const noun = nouns[at % 7]!;
      return documentOf({
        id: `doc-${at}`,
        name: `${verb}_${noun.replaceAll(" ", "_")}_${at}`,
        aliases: [`${noun} ${verb}er`],
        description: `${verb} the ${noun} ${"of a large company ".repeat(at % 11)}`,
        parameters: at % 3 === 0 ? "customer id, amount" : "",
        scopes: at % 13 === 0 ? ["admin"] : [],
        tags: at % 40 === 1 ? ["rare"] : [],
      });
    });
    await index.put(documents);
    await embedded.put(documents);
    const queries = [
      "send invoice",
      "create_user_142",
      "库存",
      "uberweisung archivieren",
      "calender evnt",
      "create the invoice for a large company",
      "file a bug about the email of a user",
      "First find the weather report of the company. Then send an email to the customer.",
    ];
    const filters: SearchFilter[] = [{ scopes: ["admin"] }, { scopes: [] }, { scopes: [], tags: ["rare"] }];
    for (const [query, filter] of queries.flatMap((query) =>
      filters.map((filter) => [query, filter] as const),
    )) {
      const request: SearchRequest = { query, limit: 10, filter };
      const [found, expected] = [await index.search(request), await embedded.search(request)];
      expect(
        found.map(({ id }) => id),
        query,
      ).toEqual(expected.map(({ id }) => id));
      for (const [at, { score }] of found.entries()) expect(score, query).toBeCloseTo(expected[at]!.score, 9);
    }
  });

  test("a domain's own words do not make its nouns common, as in the embedded engine", async () => {
    const [index, embedded] = [create(), createEmbeddedIndex()];
    const verbs = ["create", "list", "close", "assign", "search"];
    const documents = ["project", "comment", "task", "label", "board"].flatMap((noun) =>
      verbs.map((verb) =>
        documentOf({
          id: `${noun}.${verb}`,
          name: `${verb}_${noun}`,
          description: `${verb} a ${noun}`,
          domain: "work",
          domainText: "Every task of the team, task by task",
        }),
      ),
    );
    for (const one of [index, embedded]) await one.put(documents);
    for (const query of ["create a task", "task", "close the board", "assign"]) {
      expect(await idsOf(index, query), query).toEqual(await idsOf(embedded, query));
    }
    expect((await idsOf(index, "create a task"))[0]).toBe("task.create");
  });

  test("T12: no answer tells whether there are documents that the caller may not see", async () => {
    const hidden = ["secret_walrus", "walrus_report", "open_walrus_door", "opne"].map((id) =>
      documentOf({ id, description: "garage walrus kitchen opne speaker", scopes: ["admin", "zoo"] }),
    );
    const [without, among] = [create(), create()];
    await without.put(SURROUNDINGS);
    await among.put([...hidden, ...SURROUNDINGS]);
    for (const query of [
      "walrus",
      "opne the garage",
      "secret_walrus",
      "kitchen speaker",
      "walr",
      "opn dor",
    ]) {
      for (const scopes of [[], ["admin"], ["zoo"]]) {
        const request = { query, limit: 10, filter: { scopes } };
        expect(await among.search(request), query).toEqual(await without.search(request));
      }
    }
    expect(await idsOf(among, "walrus", { scopes: ["zoo", "admin"] })).toHaveLength(4);
  });

  test("refuses requests after it was closed", async () => {
    const index = create();
    await index.close();
    await expect(idsOf(index, "walrus")).rejects.toMatchObject({ code: "CLOSED" });
    await expect(index.put([])).rejects.toMatchObject({ code: "CLOSED" });
  });
});

describe("vectors in PostgreSQL", () => {
  test("and bodies rank like in the embedded engine", async () => {
    const embedder = createStaticEmbedder();
    const [index, embedded] = [create({ embedder }), createEmbeddedIndex({ embedder })];
    for (const one of [index, embedded]) await one.put(GUIDES);
    await embedded.settled();
    for (const query of [
      "sourdough starter that smells of acetone",
      "bread",
      "my plants are wilting",
      "remove rust from a chain",
      "wash a woollen jumper",
      "hydration of the dough",
      "Mend a bicycle. Then bake bread for the guests.",
    ]) {
      expect(await idsOf(index, query), query).toEqual(await idsOf(embedded, query));
    }
  });

  const meanings = { automobile: 0, car: 0, feline: 1, cat: 1, walrus: 2 };
  const car = documentOf({ id: "car", name: "car", description: "rent one" });
  const cat = documentOf({ id: "cat", name: "cat", description: "feed one", scopes: ["pets"] });

  test("find by meaning, within what the caller may see", async () => {
    const embedder = wordEmbedder(meanings);
    const index = create({ embedder });
    expect(await index.status()).toMatchObject({ mode: "lexical" });
    await index.put([...SURROUNDINGS, car, cat]);
    expect(await index.status()).toEqual({ mode: "hybrid" });
    expect((await idsOf(index, "automobile"))[0]).toBe("car");
    expect((await idsOf(index, "feline", { scopes: ["pets"] }))[0]).toBe("cat");
    expect(await idsOf(index, "feline")).not.toContain("cat");
    expect((await idsOf(index, "walrus car"))[0]).toBe("car");
    await index.drop(["car"]);
    expect(await idsOf(index, "automobile")).not.toContain("car");
  });

  test("are created once for the same text", async () => {
    const embedder = wordEmbedder(meanings);
    const index = create({ embedder });
    await index.put([car, cat]);
    expect(embedder.embedded).toBe(2);
    await index.put([{ ...car, scopes: ["drivers"] }, cat]);
    expect(embedder.embedded).toBe(2);
    await index.put([{ ...car, description: "buy one" }]);
    expect(embedder.embedded).toBe(3);
  });

  test("of another embedder are not compared", async () => {
    const table = "two_embedders";
    await create({ table, embedder: wordEmbedder(meanings) }).put([car]);
    const other: Embedder = { ...wordEmbedder(meanings), id: "other", dimensions: 5 };
    const index = create({
      table,
      embedder: { ...other, embed: async (texts) => texts.map(() => new Float32Array(5).fill(0.4)) },
    });
    expect(await idsOf(index, "automobile")).toEqual([]);
    expect(await index.status()).toMatchObject({
      mode: "lexical",
      reason: expect.stringContaining("embedder"),
    });
    await index.put([car]);
    expect(await idsOf(index, "automobile")).toEqual(["car"]);
  });

  test("fall back to words if they cannot be created, and status says why", async () => {
    const broken: Embedder = {
      id: "broken",
      dimensions: 4,
      embed: async () => Promise.reject(new TypeError("no model")),
    };
    const index = create({ embedder: broken });
    await index.put([car]);
    expect(await idsOf(index, "car")).toEqual(["car"]);
    expect(await index.status()).toEqual({ mode: "lexical", reason: "no model" });

    const withoutVectors: PostgresClient = {
      query: async (sql, params) => {
        if (/vector/.test(sql) && /create/.test(sql))
          throw new TypeError('extension "vector" is not available');
        return pglite.query(sql, params);
      },
    };
    const bare = create({ client: withoutVectors, embedder: wordEmbedder(meanings) });
    await bare.put([car]);
    expect(await idsOf(bare, "car")).toEqual(["car"]);
    expect(await bare.status()).toEqual({ mode: "lexical", reason: 'extension "vector" is not available' });
  });

  test("of documents are made for documents", async () => {
    const embedder = wordEmbedder(meanings);
    const index = create({
      embedder: {
        ...embedder,
        embedDocuments: (texts) => embedder.embed(texts.map((text) => text.replace("car", "cat"))),
      },
    });
    await index.put([car]);
    expect(await idsOf(index, "automobile")).toEqual([]);
    expect(await idsOf(index, "feline")).toEqual(["car"]);
  });
});

/** Guides whose bodies tell more than their names and descriptions. */
const GUIDES = [
  documentOf({
    id: "baking",
    name: "weekend-loaves",
    description: "For guests on Sunday.",
    content:
      "Feed the sourdough starter twice a day. If it smells of acetone it is hungry. Hydration of the dough.",
  }),
  documentOf({
    id: "solvents",
    name: "chemical-smells",
    description: "Smells of acetone and of other solvents in the house.",
  }),
  documentOf({
    id: "bicycle",
    name: "spring-check",
    description: "Before the first ride of the year.",
    content: "Remove rust from the chain with oil. Check both brakes, pump the tyres, mend punctures.",
  }),
  documentOf({
    id: "garden",
    name: "water-plants",
    description: "How often plants need water.",
    content: "Leaves that hang down are a sign of too little water, or of far too much of it.",
  }),
  documentOf({
    id: "laundry",
    name: "wool",
    description: "Clean delicate clothes.",
    content: "Wash a woollen jumper by hand, cold, and dry it lying flat on a towel.",
  }),
  ...SURROUNDINGS,
];

/** A client that records every statement. */
function watched(statements: string[]): PostgresClient {
  return {
    query: (sql, params) => {
      statements.push(sql);
      return pglite.query(sql, params);
    },
  };
}

/** Knows a few words, one direction each. */
function wordEmbedder(meanings: Readonly<Record<string, number>>): Embedder & { readonly embedded: number } {
  let embedded = 0;
  return {
    id: "words",
    dimensions: 4,
    get embedded() {
      return embedded;
    },
    embed: async (texts) => {
      embedded += texts.length;
      return texts.map((text) => {
        const vector = new Float32Array(4);
        for (const [word, at] of Object.entries(meanings)) if (text.includes(word)) vector[at] = 1;
        const length = Math.hypot(...vector);
        return length === 0 ? vector : vector.map((value) => value / length);
      });
    },
  };
}
