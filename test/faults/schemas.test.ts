import { expect, test } from "vitest";
import { compileSchema } from "../../src/base/json-schema/compile-schema.ts";
import type { JsonSchema } from "../../src/base/json-schema/json-schema.ts";
import type { Json } from "../../src/base/util/json.ts";

const SLOW_MS = 100;
const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}{}${"}".repeat(depth)}`);
const wide = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
const many = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));

/** A schema whose alternatives lead back to itself. */
function recursive(keyword: string, count: number): JsonSchema {
  const branch = { type: "object", properties: { a: { $ref: "#/$defs/node" } }, required: ["b"] };
  return {
    type: "object",
    properties: { a: { $ref: "#/$defs/node" } },
    $defs: { node: { [keyword]: many(count, () => branch) } },
  };
}

const COSTLY: [name: string, schema: JsonSchema, value: Json][] = [
  ["two recursive alternatives", recursive("anyOf", 2), nested(60)],
  ["fifty recursive alternatives", recursive("oneOf", 50), nested(60)],
  ["three recursive requirements", recursive("allOf", 3), nested(60)],
  [
    "a dynamic reference",
    {
      type: "object",
      $dynamicAnchor: "node",
      properties: { a: { anyOf: [{ $dynamicRef: "#node" }, { $dynamicRef: "#node" }] } },
      required: ["b"],
    },
    nested(60),
  ],
  [
    "alternatives for every name",
    { type: "object", additionalProperties: { anyOf: many(500, (at) => ({ const: `x${at}` })) } },
    wide(9_000),
  ],
  [
    "choices that are objects",
    { type: "object", properties: { a: { items: { enum: many(2_000, (at) => ({ k: [at] })) } } } },
    { a: many(3_000, () => ({ k: ["z"] })) },
  ],
];

test.each(COSTLY)("schema-bomb: %s are refused as too costly to check", (_, schema, value) => {
  const compiled = compileSchema(schema);
  compiled.check(structuredClone(value));
  const before = process.threadCpuUsage();
  expect(compiled.check(structuredClone(value))).toEqual({ state: "too-costly" });
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(SLOW_MS);
});

test("schema-bomb: a large call of an ordinary tool is checked in full", () => {
  const row = {
    type: "object",
    properties: Object.fromEntries(many(9, (at) => [`p${at}`, { type: ["string", "null"], maxLength: 9 }])),
    required: ["p1"],
    additionalProperties: false,
  };
  const { check } = compileSchema({ type: "object", properties: { rows: { type: "array", items: row } } });
  const rows = many(990, () => Object.fromEntries(many(9, (at) => [`p${at}`, "text"])));
  expect(check({ rows })).toMatchObject({ state: "valid" });
  expect(check({ rows: [...rows, { p2: "" }] })).toMatchObject({ state: "invalid" });
});
