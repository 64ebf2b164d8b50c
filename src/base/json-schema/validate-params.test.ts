import { describe, expect, test } from "vitest";
import type { ParseOutcome } from "./field-error.ts";
import type { JsonSchema } from "./json-schema.ts";
import { validateParams } from "./validate-params.ts";

const check = async (inputSchema: JsonSchema, params: unknown): Promise<ParseOutcome> =>
  validateParams({ inputSchema }, params);

async function errorsOf(inputSchema: JsonSchema, params: unknown): Promise<string[]> {
  const outcome = await check(inputSchema, params);
  return outcome.ok ? [] : outcome.errors.map(({ field, message }) => `${field}: ${message}`);
}

const task: JsonSchema = {
  type: "object",
  properties: {
    title: { type: "string", minLength: 3 },
    priority: { enum: ["low", "high"] },
    count: { type: "integer", minimum: 1, default: 1 },
    dueAt: { type: "string", format: "date-time" },
    rows: { type: "array", maxItems: 5, items: { type: "object", properties: { name: { type: "string" } } } },
  },
  required: ["title"],
  additionalProperties: false,
};

describe("validateParams", () => {
  test("has nothing to wait for once a schema is compiled", async () => {
    const inputSchema = { type: "object", properties: { text: { type: "string" } } } as const;
    await validateParams({ inputSchema }, {});
    expect(validateParams({ inputSchema }, { text: "one" })).toEqual({ ok: true, value: { text: "one" } });
  });

  test("lets the author's own schema decide", async () => {
    const parse = (params: unknown): ParseOutcome => ({ ok: true, value: { seen: params } });
    const entry = { inputSchema: { type: "object", required: ["never"] }, parse };
    expect(await validateParams(entry, undefined)).toEqual({ ok: true, value: { seen: {} } });
  });

  test("fills in defaults on a copy", async () => {
    const params = Object.freeze({ title: "abc", rows: Object.freeze([Object.freeze({ name: "x" })]) });
    expect(await check(task, params)).toEqual({
      ok: true,
      value: { title: "abc", count: 1, rows: [{ name: "x" }] },
    });
    expect(params).not.toHaveProperty("count");
  });

  test.each([
    ["null for a list", { type: "array", items: { type: "string" }, default: null }],
    ["null for a number or text", { type: ["number", "string"], default: null }],
    ["null for a choice", { enum: ["walk", "drive"], default: null }],
    ["null for a reference", { $ref: "#/$defs/mode", default: null }],
    ["a text for a number", { type: "integer", default: "9" }],
  ])("leaves out a default that its own schema refuses: %s", async (_, property) => {
    const $defs = { mode: { type: "string", enum: ["walk", "drive"] } };
    const schema = { type: "object", properties: { city: { type: "string" }, more: property }, $defs };
    expect(await check(schema, { city: "Bergen" })).toEqual({ ok: true, value: { city: "Bergen" } });
  });

  test.each([
    [{ type: ["string", "null"], default: null }],
    [{ anyOf: [{ type: "integer" }, { type: "null" }], default: null }],
    [{ type: "string", nullable: true, default: null }],
    [{ default: null }],
  ])("fills in null where the schema takes it: %j", async (property) => {
    const schema = { type: "object", properties: { more: property } };
    expect(await check(schema, {})).toEqual({ ok: true, value: { more: null } });
  });

  test("treats absent params as empty", async () => {
    expect(await check({ type: "object" }, undefined)).toEqual({ ok: true, value: {} });
    expect(await errorsOf(task, undefined)).toEqual(["title: is required"]);
  });

  test.each([
    ["text", 'string "text"'],
    [null, "null"],
    [[1, 2], "array of 2"],
    [5, "number 5"],
  ])("refuses %j as params", async (params, got) => {
    expect(await errorsOf(task, params)).toEqual([`: must be an object of named arguments, got ${got}`]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["type", { title: 5 }, "title: must be a string, got number 5"],
    ["no coercion", { title: "abc", count: "5" }, 'count: must be an integer, got string "5"'],
    ["length", { title: "ab" }, 'title: must have at least 3 characters, got string "ab"'],
    ["enum", { title: "abc", priority: "hgh" }, 'priority: must be one of "low", "high", got string "hgh"'],
    ["limit", { title: "abc", count: 0 }, "count: must be at least 1, got number 0"],
    [
      "path",
      { title: "abc", rows: [{ name: "a" }, { name: 1 }] },
      "rows[1].name: must be a string, got number 1",
    ],
    [
      "format",
      { title: "abc", dueAt: "tomorrow" },
      'dueAt: must be a date and time with its zone, such as 2026-01-31T09:00:00Z, got string "tomorrow"',
    ],
    [
      "long values",
      { title: "abc", count: "x".repeat(500) },
      `count: must be an integer, got string "${"x".repeat(39)}…"`,
    ],
  ])("says what is wrong: %s", async (_, params, message) => {
    expect(await errorsOf(task, params)).toEqual([message]);
  });

  test("names the nearest argument for an unknown one", async () => {
    const outcome = await check(task, { title: "abc", dueat: "2026-01-31T09:00:00Z" });
    expect(outcome).toEqual({
      ok: false,
      errors: [{ field: "dueat", message: 'is not known; did you mean "dueAt"?', nearest: "dueAt" }],
    });
    expect(await errorsOf(task, { title: "abc", zzz: 1 })).toEqual([
      'zzz: is not known; the names are "title", "priority", "count", "dueAt", "rows"',
    ]);
  });

  test("sees that a missing argument was sent under another name", async () => {
    const open = { properties: { user_id: { type: "string" } }, required: ["user_id", "other"] };
    expect(await errorsOf(open, { usrId: "1" })).toEqual([
      'user_id: is required; rename "usrId" to "user_id" if you meant that',
      "other: is required",
    ]);
  });

  test("says what the alternatives have in common", async () => {
    const schema = {
      properties: {
        a: { anyOf: [{ type: "string" }, { type: "null" }] },
        b: { oneOf: [{ const: 1 }, { const: 2 }] },
        c: { anyOf: [{ $ref: "#/$defs/and" }, { type: "string" }] },
      },
      $defs: { and: { type: "object", properties: { op: { const: "and" } }, required: ["op"] } },
    };
    expect(await errorsOf(schema, { a: 1, b: 3, c: {} })).toEqual([
      "a: must be a string or null, got number 1",
      "b: must be one of 1, 2, got number 3",
      'c: must fit one of the allowed forms: "op" is required',
    ]);
  });

  test("gathers what the alternatives want in one place", async () => {
    const form = (op: string) => ({ type: "object", properties: { op: { const: op } }, required: ["op"] });
    const schema = { properties: { filter: { anyOf: [form("and"), form("or")] } } };
    expect(await errorsOf(schema, { filter: { op: "nand" } })).toEqual([
      'filter: must fit one of the allowed forms: "op" must be one of "and", "or", got string "nand"',
    ]);
  });

  test("reports at most twenty errors", async () => {
    const schema = { properties: { list: { type: "array", items: { type: "string" } } } };
    expect(await errorsOf(schema, { list: Array.from({ length: 9000 }, (_, index) => index) })).toHaveLength(
      20,
    );
  });

  test("limits elements and depth", async () => {
    const list = Array.from({ length: 10_001 }, (_, index) => index);
    expect(await errorsOf({}, { list })).toEqual([
      ": has more than 10000 elements in total, which is the limit",
    ]);
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(await errorsOf({}, { deep })).toEqual([": is nested deeper than 64 levels, which is the limit"]);
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(await errorsOf({}, cycle)).toHaveLength(1);
  });
});

describe("schemas", () => {
  test.each<[string, JsonSchema, unknown, unknown]>([
    [
      "draft-07 with definitions and tuples",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        $id: "http://example.com/a",
        definitions: { point: { items: [{ type: "number" }, { type: "number" }], additionalItems: false } },
        properties: { at: { $ref: "#/definitions/point" } },
      },
      { at: [1, 2] },
      { at: [1, 2, 3] },
    ],
    ["draft-04 limits", { properties: { a: { minimum: 1, exclusiveMinimum: true } } }, { a: 2 }, { a: 1 }],
    [
      "draft-07 anchors",
      { definitions: { c: { $id: "#c", type: "string" } }, properties: { a: { $ref: "#c" } } },
      { a: "x" },
      { a: 1 },
    ],
    ["old dependencies", { dependencies: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }],
    ["OpenAPI's nullable", { properties: { a: { type: "string", nullable: true } } }, { a: null }, { a: 1 }],
    [
      "annotations of any shape",
      { properties: { a: { type: "string", examples: "x", description: null } } },
      { a: "x" },
      { a: 1 },
    ],
    [
      "distinct items",
      { properties: { a: { uniqueItems: true } } },
      { a: [{ x: 1 }, ["x", 1]] },
      {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
    ],
    ["unknown formats", { properties: { a: { format: "__proto__", type: "string" } } }, { a: "x" }, { a: 1 }],
    ["an asynchronous flag", { $async: true, required: ["a"] }, { a: 1 }, {}],
    [
      "conditions",
      JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}'),
      { a: 1, b: 1 },
      { a: 1 },
    ],
  ])("understands %s", async (_, schema, good, bad) => {
    expect(await check(schema, good)).toMatchObject({ ok: true });
    const outcome = await check(schema, bad);
    expect(outcome.ok ? [] : outcome.errors).toHaveLength(1);
  });

  test("validates a recursive tree", async () => {
    const schema = {
      properties: { root: { $ref: "#/$defs/node" } },
      $defs: {
        node: {
          type: "object",
          properties: {
            name: { type: "string" },
            children: { type: "array", items: { $ref: "#/$defs/node" } },
          },
          required: ["name"],
        },
      },
    };
    expect(await check(schema, { root: { name: "a", children: [{ name: "b" }] } })).toMatchObject({
      ok: true,
    });
    expect(
      await errorsOf(schema, { root: { name: "a", children: [{ name: "b", children: [{}] }] } }),
    ).toEqual(["root.children[0].children[0].name: is required"]);
  });

  test("do not clash by id", async () => {
    const schema = (type: string): JsonSchema => ({
      $id: "https://example.com/same",
      properties: { a: { type } },
    });
    expect(await check(schema("string"), { a: "x" })).toMatchObject({ ok: true });
    expect(await check(schema("number"), { a: 1 })).toMatchObject({ ok: true });
  });

  test.each<[string, JsonSchema]>([
    ["an unknown type", { properties: { a: { type: "any" } } }],
    ["an endless reference", { $ref: "#" }],
    ["a reference elsewhere", { $ref: "https://example.com/a" }],
    ["a limit read from the data", { properties: { a: { minimum: { $data: "/b" } } } }],
  ])("are rejected: %s", async (_, schema) => {
    await expect(check(schema, {})).rejects.toMatchObject({ code: "SCHEMA_REJECTED" });
    await expect(check(schema, {})).rejects.toMatchObject({ code: "SCHEMA_REJECTED" });
  });

  test("compile once", async () => {
    let reads = 0;
    const schema = {
      get properties() {
        reads += 1;
        return { a: { type: "string" } };
      },
    };
    await Promise.all([check(schema, { a: "x" }), check(schema, { a: "y" })]);
    expect(reads).toBe(1);
  });

  test("take arguments named like object members", async () => {
    const schema: JsonSchema = {
      properties: JSON.parse(
        '{"constructor":{"type":"string","default":"x"},"__proto__":{},"toString":{"type":"number"}}',
      ),
      required: ["constructor", "toString"],
    };
    expect(await errorsOf(schema, {})).toEqual(["constructor: is required", "toString: is required"]);
    const params = JSON.parse('{"constructor":"c","toString":1,"__proto__":{"admin":true}}');
    const outcome = await check(schema, params);
    expect(outcome.ok && JSON.stringify(outcome.value)).toBe(JSON.stringify(params));
    const closed = { properties: {}, additionalProperties: false };
    expect(await errorsOf(closed, JSON.parse('{"__proto__":1,"valueOf":2}'))).toHaveLength(2);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });
});
