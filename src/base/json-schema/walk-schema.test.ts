import { expect, test } from "vitest";
import { isPlainObject } from "../util/plain-object.ts";
import { SCHEMA_KEYWORDS } from "./schema-keywords.ts";
import { mapSchema, subschemas } from "./walk-schema.ts";

/** Counts every schema that a walk reaches. */
function reached(schema: unknown): unknown[] {
  if (!isPlainObject(schema)) return [schema];
  return [schema, ...[...subschemas(schema)].flatMap(({ value }) => reached(value))];
}

test.each([...SCHEMA_KEYWORDS.keys()])("a property called %s is a schema", (name) => {
  const property = { type: "string", description: "d" };
  const schema = { properties: { [name]: property }, $defs: { [name]: property } };
  expect(reached(schema)).toEqual([schema, property, property]);
});

test.each(["enum", "const", "default", "examples", "example", "x-own"])("%s holds no schemas", (keyword) => {
  const schema = { [keyword]: [{ properties: { a: { type: "string" } } }] };
  expect(reached(schema)).toEqual([schema]);
});

test("schemas are found under every keyword that holds them, once each", () => {
  const part = { type: "string" };
  for (const [keyword, { holds }] of SCHEMA_KEYWORDS) {
    const value = { schema: part, schemas: [part, true], "named-schemas": { a: part, b: false } }[
      holds as "schema"
    ];
    const found = [...subschemas({ [keyword]: value })].map((child) => child.value);
    const expected = { schema: [part], schemas: [part, true], "named-schemas": [part, false] }[
      holds as "schema"
    ];
    expect(found, keyword).toEqual(expected ?? []);
  }
});

test("both walks reach the same schemas", () => {
  const part = { type: "string" };
  const schema = {
    properties: { default: part },
    items: [part, true],
    allOf: [],
    anyOf: [part],
    dependencies: { a: ["b"], c: part },
    not: "nothing",
    enum: [part],
  };
  const mapped: unknown[] = [];
  const others: string[] = [];
  const copy = mapSchema(schema, {
    subschema: (value) => {
      mapped.push(value);
      return value;
    },
    value: (value, keyword) => {
      others.push(keyword);
      return value;
    },
  });
  expect(copy).toEqual(schema);
  expect(mapped).toEqual(
    [...subschemas(schema)].map(({ value }) => value).filter((value) => value !== "nothing"),
  );
  expect(others).toEqual(["allOf", "dependencies", "not", "enum"]);
});

test("a part that becomes undefined is left out, and a name like __proto__ is kept", () => {
  const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"},"gone":{}},"title":"t","if":{}}');
  const copy = mapSchema(schema, {
    subschema: (value, keyword, key) => (keyword === "if" || key === "gone" ? undefined : value),
    value: () => undefined,
  });
  expect(JSON.stringify(copy)).toBe('{"properties":{"__proto__":{"type":"string"}}}');
});
