import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toExampleArgs } from "./example-args.ts";
import type { JsonSchema } from "./json-schema.ts";

const ajv = new Ajv2020({ strict: false, allErrors: true, ownProperties: true });
formats.default(ajv);

function expectValid(schema: JsonSchema): Record<string, unknown> {
  const args = toExampleArgs(schema);
  const isValid = ajv.validate(schema, args);
  expect(isValid, `${JSON.stringify(schema)} gave ${JSON.stringify(args)}: ${ajv.errorsText()}`).toBe(true);
  ajv.removeSchema(schema);
  return args;
}

/** The example of one required value; it must fit. */
function exampleOf(schema: unknown, root: JsonSchema = {}): unknown {
  return expectValid({ ...root, type: "object", properties: { x: schema }, required: ["x"] }).x;
}

describe("toExampleArgs", () => {
  it.each([
    [{ type: "string" }, "text"],
    [{ type: "string", minLength: 6 }, "textte"],
    [{ type: "string", maxLength: 2 }, "te"],
    [{ type: "string", format: "date" }, "2026-01-15"],
    [{ type: "string", format: "date-time" }, "2026-01-15T09:30:00Z"],
    [{ type: "string", format: "email" }, "someone@example.com"],
    [{ type: "string", format: "uri" }, "https://example.com"],
    [{ type: "string", format: "uuid" }, "3f2504e0-4f89-41d3-9a0c-0305e82c3301"],
    [{ type: "integer", minimum: 3 }, 3],
    [{ type: "integer", maximum: -7 }, -7],
    [{ type: "integer", exclusiveMinimum: 3, multipleOf: 4 }, 4],
    [{ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    [{ type: "boolean" }, true],
    [{ type: ["null", "integer"] }, 1],
    [{ const: { a: 1 } }, { a: 1 }],
    [{ type: "integer", default: 9 }, 9],
    [{ type: "integer", default: "nine", examples: [-1, 8], minimum: 0 }, 8],
    [{ type: "string", enum: [1, "b"] }, "b"],
    [{ type: "array", items: { type: "string" } }, ["text"]],
    [{ type: "array", items: { type: "integer" }, minItems: 2 }, [1, 1]],
    [{ type: "array", items: { type: "integer" }, minItems: 2, uniqueItems: true }, [1, 2]],
    [{ type: "array", maxItems: 0 }, []],
    [{ type: "array", prefixItems: [{ type: "string" }, { type: "boolean" }], items: false }, ["text", true]],
    [{ type: "object", properties: { a: { type: "string" }, b: {} }, required: ["a"] }, { a: "text" }],
    [{ anyOf: [{ type: "null" }, { type: "integer" }], default: null }, 1],
    [{ type: "integer", oneOf: [{ minimum: 5 }, { maximum: 3 }] }, 5],
    [{ allOf: [{ type: "integer", minimum: 2 }, { minimum: 6 }] }, 6],
    [{ allOf: [{ enum: ["a", "b"] }, { enum: ["b", "c"] }] }, "b"],
    [true, "text"],
  ])("makes of %j the value %j", (schema, value) => {
    expect(exampleOf(schema)).toEqual(value);
  });

  it("shows only what is required, or else the first optional argument", () => {
    const properties = { a: { type: "string" }, b: { type: "integer" } };
    expect(expectValid({ properties, required: ["b"] })).toEqual({ b: 1 });
    expect(expectValid({ properties })).toEqual({ a: "text" });
    expect(expectValid({ type: "object" })).toEqual({});
    expect(expectValid({ properties, anyOf: [{ required: ["b"] }, { required: ["a"] }] })).toEqual({ b: 1 });
  });

  it("prefers the arguments that the author wrote", () => {
    const schema = {
      properties: { a: { type: "string" } },
      required: ["a"],
      examples: [{}, { a: "written" }],
    };
    expect(expectValid(schema)).toEqual({ a: "written" });
  });

  it("follows references, and finds the way out of a circle", () => {
    const $defs = {
      node: { type: "object", properties: { next: { $ref: "#/$defs/link" } }, required: ["next"] },
      link: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
      tree: {
        type: "object",
        properties: { children: { type: "array", items: { $ref: "#/$defs/tree" } } },
        required: ["children"],
      },
    };
    expect(JSON.stringify(exampleOf({ $ref: "#/$defs/node" }, { $defs }))).toMatch(/^\{"next":.*null\}+$/);
    expect(JSON.stringify(exampleOf({ $ref: "#/$defs/tree" }, { $defs }))).toMatch(/"children":\[\]/);
  });

  it("makes a property of a name of the object prototype", () => {
    const args = toExampleArgs(JSON.parse('{"required":["__proto__"]}'));
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect(JSON.stringify(args)).toBe('{"__proto__":"text"}');
  });

  it("takes any value as a schema", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(toExampleArgs(value as JsonSchema)).toBeTypeOf("object");
        const wild = {
          type: value,
          items: value,
          enum: value,
          minimum: value,
          minItems: value,
          anyOf: value,
        };
        const schema = {
          properties: { x: value, y: wild, z: { ...wild, enum: 1, type: "array" } },
          required: ["y", "z"],
        };
        expect(toExampleArgs(schema)).toEqual(toExampleArgs(schema));
      }),
    );
  });

  it("is quick on schemas that are large, or multiply", () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `p${index}`);
    const $defs: Record<string, unknown> = {};
    for (let index = 0; index < 40; index += 1) {
      const next = { $ref: `#/$defs/d${index + 1}` };
      $defs[`d${index}`] = {
        properties: { a: next, b: next, c: next, d: next },
        required: ["a", "b", "c", "d"],
      };
    }
    expect(Object.keys(toExampleArgs({ required: names })).length).toBeGreaterThan(1_000);
    expect(JSON.stringify(toExampleArgs({ $defs, $ref: "#/$defs/d0" })).length).toBeLessThan(1_000_000);
    const huge = { type: "array", minItems: 1e9, items: { type: "string", minLength: 1e9 } };
    expect(JSON.stringify(toExampleArgs({ properties: { huge } })).length).toBeLessThan(100_000);
  });

  it("fits every well-formed schema of the common keywords", () => {
    fc.assert(
      fc.property(objectSchemas, (schema) => {
        expectValid(schema);
      }),
      { numRuns: 150 },
    );
  });
});

const strings = fc.oneof(
  fc.constantFrom("date", "date-time", "email", "uri", "uuid").map((format) => ({ type: "string", format })),
  fc
    .tuple(fc.nat(20), fc.nat(20))
    .map(([least, more]) => ({ type: "string", minLength: least, maxLength: least + more })),
);
const numbers = fc
  .record({
    type: fc.constantFrom("integer", "number"),
    low: fc.integer({ min: -1_000, max: 1_000 }),
    size: fc.integer({ min: 2, max: 500 }),
    isOpen: fc.boolean(),
  })
  .map(({ type, low, size, isOpen }) =>
    isOpen
      ? { type, exclusiveMinimum: low, exclusiveMaximum: low + size }
      : { type, minimum: low, maximum: low + size },
  );
const named = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }).map((value) => ({ const: value })),
  fc
    .uniqueArray(fc.string(), { minLength: 1, maxLength: 9 })
    .map((values) => ({ type: "string", enum: values })),
  fc.string().map((value) => ({ type: "string", default: value })),
  fc.integer().map((value) => ({ type: "integer", examples: [value] })),
);
// Not `toString`: Ajv itself throws where it compares an object that has one with a `const`.
const names = fc.constantFrom(
  "id",
  "name",
  "a-b",
  "constructor",
  "isPrototypeOf",
  "größe",
  "x y",
  "$ref",
  "type",
  "0",
);

const { object: objectSchemas } = fc.letrec<{ any: unknown; object: JsonSchema }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(strings, numbers, named, fc.constant({ type: "boolean" }), fc.constant(true)),
    tie("any").map((items) => ({ type: "array", items })),
    fc.tuple(tie("any"), fc.nat(3)).map(([items, minItems]) => ({ type: "array", items, minItems })),
    tie("any").map((branch) => ({ anyOf: [branch, { type: "null" }] })),
    tie("any").map((part) => ({ allOf: [part], description: "one" })),
    fc.tuple(tie("object"), tie("object")).map(([left, right]) => ({ anyOf: [left, right] })),
    tie("object"),
  ),
  object: fc
    .record({
      properties: fc.dictionary(names, tie("any"), { maxKeys: 5 }),
      count: fc.nat(5),
      isClosed: fc.boolean(),
    })
    .map(({ properties, count, isClosed }) => ({
      type: "object",
      properties: { ...properties },
      required: Object.keys(properties).slice(0, count),
      ...(isClosed ? { additionalProperties: false } : {}),
    })),
}));
