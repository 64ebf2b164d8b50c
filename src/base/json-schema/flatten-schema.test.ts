import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toArgs } from "./args.ts";
import { toExampleArgs } from "./example-args.ts";
import { createWalk, flatten, toLiteral, toObjectView } from "./flatten-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { toSignature } from "./signature.ts";

describe("flatten", () => {
  const flat = (schema: JsonSchema) => flatten(createWalk(schema), schema);

  it("lets the words beside a reference stand over those behind it", () => {
    const $defs = { x: { type: "string", description: "behind", title: "behind" } };
    const { schema, lossy } = flat({ $defs, $ref: "#/$defs/x", description: "beside" });
    expect(schema).toMatchObject({ type: "string", description: "beside", title: "behind" });
    expect(lossy).toBe(false);
  });

  it("joins what both parts say of one property", () => {
    const parts = [
      { properties: { a: { minimum: 1 } }, required: ["a"], additionalProperties: true },
      { properties: { a: { maximum: 2 } }, required: ["a", "b"], additionalProperties: false },
    ];
    expect(flat({ allOf: parts })).toEqual({
      schema: {
        properties: { a: { allOf: [{ minimum: 1 }, { maximum: 2 }] } },
        required: ["a", "b"],
        additionalProperties: false,
      },
      lossy: false,
    });
  });

  it("intersects types, an integer being a number", () => {
    expect(flat({ allOf: [{ type: ["number", "string"] }, { type: ["integer", "null"] }] }).schema.type).toBe(
      "integer",
    );
  });

  it("says when two keywords cannot be said as one", () => {
    expect(flat({ allOf: [{ pattern: "a" }, { pattern: "b" }] })).toEqual({
      schema: { pattern: "a" },
      lossy: true,
    });
    expect(flat({ allOf: [{ pattern: "a" }, { pattern: "a" }] }).lossy).toBe(false);
  });

  it("does not reach past the schema", () => {
    for (const $ref of ["#/constructor", "#/__proto__", "#/$defs/length", "#/%E0%A4%A", "other.json#/x", 5]) {
      expect(flat({ $ref, $defs: {} }).lossy).toBe(true);
    }
  });
});

describe("toObjectView", () => {
  it("keeps names of the object prototype apart from the prototype", () => {
    const schema = JSON.parse(
      '{"allOf":[{"properties":{"__proto__":{"type":"string"}}},{"properties":{"b":{}}}]}',
    );
    const walk = createWalk(schema);
    const { properties } = toObjectView(walk, flatten(walk, schema));
    expect(properties.map(({ name }) => name)).toEqual(["__proto__", "b"]);
    expect(properties[0]?.schema).toEqual({ type: "string" });
  });
});

describe("toLiteral", () => {
  it("escapes what cannot be seen and has no text for what JSON cannot say", () => {
    expect(toLiteral("a\u007f\u2028\u{e0041}\ud800")).toBe('"a\\u007f\\u2028\\udb40\\udc41\\ud800"');
    expect(toLiteral(1n)).toBeUndefined();
    expect(toLiteral(undefined)).toBeUndefined();
  });
});

describe("readers of schemas", () => {
  it("take any keyword with any value", () => {
    fc.assert(
      fc.property(wildSchemas, (schema) => {
        expect(toSignature(schema).length).toBeLessThanOrEqual(200);
        expect(toArgs(schema)).toEqual(toArgs(schema));
        expect(toExampleArgs(schema)).toEqual(toExampleArgs(schema));
      }),
      { numRuns: 300 },
    );
  });
});

const scalarKeywords = [
  "type",
  "default",
  "const",
  "minimum",
  "maximum",
  "minItems",
  "maxLength",
  "multipleOf",
];
const schemaKeywords = ["items", "additionalProperties", "not", "propertyNames", "if", "contains"];
const listKeywords = ["allOf", "anyOf", "oneOf", "prefixItems", "enum", "examples", "required", "items"];
const mapKeywords = ["properties", "$defs", "patternProperties"];
const words = fc.constantFrom(
  "a",
  "b",
  "__proto__",
  "constructor",
  "object",
  "array",
  "string",
  "integer",
  "number",
);
const scalars = fc.oneof(words, fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.array(words));
const references = fc.constantFrom(
  "#",
  "#/$defs/a",
  "#/$defs/b",
  "#/properties/a",
  "#/allOf/0",
  "#/anyOf/1",
  "x",
  "#/%",
);

const { schema: wildSchemas } = fc.letrec<{ schema: JsonSchema; node: unknown }>((tie) => ({
  node: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalars, tie("schema")),
  schema: fc
    .tuple(
      fc.dictionary(fc.constantFrom(...scalarKeywords), scalars, { maxKeys: 3 }),
      fc.dictionary(fc.constantFrom(...schemaKeywords), tie("node"), { maxKeys: 1 }),
      fc.dictionary(fc.constantFrom(...listKeywords), fc.array(tie("node"), { maxLength: 3 }), {
        maxKeys: 2,
      }),
      fc.dictionary(fc.constantFrom(...mapKeywords), fc.dictionary(words, tie("node"), { maxKeys: 3 }), {
        maxKeys: 2,
      }),
      fc.option(references),
    )
    .map(([scalar, single, list, map, $ref]) => ({
      ...scalar,
      ...single,
      ...list,
      ...map,
      ...($ref ? { $ref } : {}),
    })),
}));
