import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BARE_ENTRY } from "../nouns/bare-entry.ts";
import type { ExtractionSchema, ToolEntry } from "../nouns/entry.ts";
import { createExtractor, type Extraction, extractEntities, MOST_FROM_ONE_RESULT } from "./extractor.ts";

const now = new Date(1_000);
const found = (extraction: ExtractionSchema, result: unknown) =>
  extractEntities({ extraction }, result, now).map(({ type, id, name }) => `${type}:${id}:${name}`);

describe("a schema", () => {
  test("finds one entity at the root", () => {
    const schema = { path: "$root", type: "page", nameField: "name" };
    expect(found(schema, { id: "p1", name: "Home" })).toEqual(["page:p1:Home"]);
  });

  test("finds up to five at a nested path, by other fields", () => {
    const schema = {
      path: "data.images",
      type: "image",
      nameField: "file.name",
      idField: "key",
      isArray: true,
    };
    const images = Array.from({ length: 9 }, (_, key) => ({ key, file: { name: `${key}.png` } }));
    expect(found(schema, { data: { images } })).toEqual(
      [0, 1, 2, 3, 4].map((key) => `image:${key}:${key}.png`),
    );
  });

  test("prefers a field with a dot in its name to a path", () => {
    const schema = { path: "a.b", type: "x", nameField: "name" };
    const result = { "a.b": { id: 1, name: "whole" }, a: { b: { id: 2, name: "path" } } };
    expect(found(schema, result)).toEqual(["x:1:whole"]);
  });

  test.each([
    ["without an id", { name: "a" }],
    ["without a name", { id: 1 }],
    ["with an empty id", { id: "", name: "a" }],
    ["with an object for an id", { id: {}, name: "a" }],
    ["with an id that cannot be kept as it is", { id: `a\u200b${"b".repeat(10)}`, name: "a" }],
    ["with an id of any length", { id: "x".repeat(5_000), name: "a" }],
    ["that is a list", [{ id: 1, name: "a" }]],
    ["that is text", "id"],
    ["that is nothing", null],
  ])("passes over a thing %s", (_, result) => {
    expect(found({ path: "$root", type: "page", nameField: "name" }, result)).toEqual([]);
  });

  test("reads own fields only", () => {
    const schema = { path: "constructor", type: "x", nameField: "name", idField: "length" };
    expect(found(schema, {})).toEqual([]);
    expect(found({ ...schema, path: "__proto__" }, {})).toEqual([]);
  });
});

describe("a tool's own extractor", () => {
  test("takes precedence over the schema, and its answer is checked", () => {
    const tool: Extraction = {
      extraction: { path: "$root", type: "schema", nameField: "name" },
      extractEntities: () =>
        [
          { type: "own", id: "1", name: "a", timestamp: new Date(500) },
          { type: "own", id: "2", name: "", timestamp: now },
          null,
          { type: "own", id: "3", name: "to come", timestamp: new Date(9_999_999) },
          { type: "own", id: "4", name: "no time", timestamp: new Date(Number.NaN) },
        ] as never,
    };
    expect(extractEntities(tool, { id: 1, name: "x" }, now)).toEqual([
      { type: "own", id: "1", name: "a", timestamp: new Date(500) },
      { type: "own", id: "3", name: "to come", timestamp: now },
      { type: "own", id: "4", name: "no time", timestamp: now },
    ]);
  });

  test.each([undefined, 7, "text", { length: 1e9 }, Promise.resolve([])])(
    "that answers %s finds nothing",
    (answer) => {
      expect(extractEntities({ extraction: null, extractEntities: () => answer as never }, {}, now)).toEqual(
        [],
      );
    },
  );
});

test("results of any shape give at most five whole entities and never throw", () => {
  const key = fc.constantFrom("id", "name", "a", "b", "__proto__", "constructor");
  const { shape } = fc.letrec((tie) => ({
    shape: fc.oneof(
      { maxDepth: 5 },
      fc.anything(),
      fc.array(tie("shape"), { maxLength: 20 }),
      fc.dictionary(key, tie("shape")),
    ),
  }));
  const path = fc.array(key, { minLength: 1, maxLength: 4 }).map((keys) => keys.join("."));
  const schema = fc.record({
    path: fc.oneof(fc.constant("$root"), path, fc.string()),
    type: fc.string({ minLength: 1 }),
    nameField: path,
    idField: path,
    isArray: fc.boolean(),
  });
  fc.assert(
    fc.property(schema, shape, (extraction, result) => {
      const entities = extractEntities({ extraction }, result, now);
      expect(entities.length).toBeLessThanOrEqual(MOST_FROM_ONE_RESULT);
      for (const { type, id, name } of entities) {
        expect(type && id && name).toBeTruthy();
        expect(name.length).toBeLessThanOrEqual(160);
      }
    }),
  );
});

describe("the counts", () => {
  const tool = (own?: ToolEntry["extractEntities"]): ToolEntry => ({
    ...BARE_ENTRY,
    kind: "tool",
    route: "d://tools/a",
    op: "d.a",
    domain: "d",
    name: "a",
    description: "a",
    lane: "read",
    requiresConfirmation: false,
    extraction: own ? null : { path: "$root", type: "page", nameField: "name" },
    ...(own && { extractEntities: own }),
    call: async () => null,
  });

  test("tell when no result was processed, without tools that name no entities, and each failing tool once", () => {
    const failures: string[] = [];
    const extractor = createExtractor((detail) => failures.push(detail));
    const broken = tool(() => {
      throw new TypeError("no such field");
    });
    expect(extractor.warning).toBeUndefined();
    for (let times = 0; times < 3; times += 1) expect(extractor.extract(broken, {}, now)).toEqual([]);
    expect(failures).toEqual(["d.a: no such field"]);
    expect(extractor.warning).toBe(
      "3 tool results received but 0 processed. Entity extraction may be broken.",
    );
    extractor.extract({ ...tool(), extraction: null }, {}, now);
    expect(extractor.warning).toContain("3 tool results received");
    expect(extractor.extract(tool(), { id: 1, name: "Home" }, now)).toHaveLength(1);
    expect(extractor.warning).toBeUndefined();
  });
});
