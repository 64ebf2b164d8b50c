import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { loadTokenCounter, type TokenCounter } from "../tokens/tokens.ts";
import { fieldsInError } from "./field-errors.ts";
import { fitSchema } from "./fit-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { resolvePointer } from "./walk-schema.ts";

let countTokens: TokenCounter;
beforeAll(async () => {
  countTokens = await loadTokenCounter();
});

const size = (schema: JsonSchema) => countTokens(JSON.stringify(schema));
const namesOf = ({ properties = {} }: JsonSchema) => Object.keys(properties as object);

/** A tool of 400 fields, each with words of its own. */
const wide: JsonSchema = {
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: 400 }, (_, index) => [
      `field_${index}`,
      { type: "string", maxLength: 50, description: `The value of field ${index}. It may be anything.` },
    ]),
  ),
  required: ["field_390", "field_391"],
  additionalProperties: false,
};

function referencesOf(schema: JsonSchema): string[] {
  return [...JSON.stringify(schema).matchAll(/"\$ref":"#([^"]*)"/g)].map((match) => match[1]!);
}

describe("fitSchema", () => {
  test("gives a schema that fits in whole, without what only a validator needs", () => {
    const schema = { type: "object", properties: { a: { type: "string", maxLength: 9 } } };
    expect(fitSchema(schema, { maxTokens: 100, countTokens })).toEqual({
      schema: { type: "object", properties: { a: { type: "string" } } },
      omitted: 0,
    });
  });

  test("keeps a tool of 400 fields within its budget, the wanted fields first and whole", () => {
    const { schema, omitted } = fitSchema(wide, { first: ["field_200"], maxTokens: 500, countTokens });
    expect(size(schema)).toBeLessThanOrEqual(500);
    expect(size(schema)).toBeGreaterThan(400);
    expect(namesOf(schema).slice(0, 4)).toEqual(["field_200", "field_390", "field_391", "field_0"]);
    expect(omitted).toBe(400 - namesOf(schema).length);
    expect(schema).toMatchObject({
      properties: { field_200: { description: "The value of field 200. It may be anything." } },
      required: ["field_390", "field_391"],
    });
    expect(schema).not.toHaveProperty("additionalProperties");
  });

  test("takes the definitions along that are referred to, and no others", () => {
    const node = {
      type: "object",
      properties: { next: { $ref: "#/$defs/node" }, of: { $ref: "#/$defs/leaf" } },
    };
    const schema = {
      type: "object",
      properties: { tree: { $ref: "#/$defs/node" }, ...(wide.properties as object) },
      $defs: { node, leaf: { type: "string" }, unused: { type: "number" } },
    };
    const fitted = fitSchema(schema, { first: ["tree"], maxTokens: 200, countTokens });
    expect(fitted.schema.$defs).toEqual({ node, leaf: { type: "string" } });
    expect(fitted.schema).toMatchObject({ properties: { tree: { $ref: "#/$defs/node" } } });
  });

  test("shows a large argument by its type and summary", () => {
    const schema = { type: "object", properties: { wide: { ...wide, description: "All of it. At once." } } };
    expect(fitSchema(schema, { first: ["wide"], maxTokens: 60, countTokens })).toEqual({
      schema: { type: "object", properties: { wide: { type: "object", description: "All of it." } } },
      omitted: 0,
    });
  });

  test("reads the properties of allOf and of alternatives", () => {
    const schema = {
      allOf: [wide, { properties: { extra: { anyOf: [{ type: "string" }, { type: "null" }] } } }],
    };
    const fitted = fitSchema(schema, { first: ["extra"], maxTokens: 100, countTokens });
    expect(namesOf(fitted.schema)[0]).toBe("extra");
    expect(fitted.omitted).toBe(401 - namesOf(fitted.schema).length);
  });

  test("stays within any budget for any schema, and gives one that can be read", () => {
    const name = fc.oneof(fc.constantFrom("a", "b", "__proto__", "constructor", "ünï"), fc.string());
    const leaf = fc.record(
      {
        type: fc.constantFrom("string", "number"),
        description: fc.string({ maxLength: 200 }),
        enum: fc.array(fc.string(), { minLength: 1, maxLength: 20 }),
        $ref: fc.constantFrom("#/$defs/a", "#/$defs/b", "#/properties/a", "#"),
      },
      { requiredKeys: [] },
    );
    const holding = (part: fc.Arbitrary<object>) =>
      fc.record(
        {
          properties: fc.dictionary(name, part, { maxKeys: 6 }),
          required: fc.uniqueArray(name, { maxLength: 3 }),
          items: part,
          anyOf: fc.array(part, { minLength: 1, maxLength: 3 }),
          allOf: fc.array(part, { minLength: 1, maxLength: 3 }),
          $defs: fc.dictionary(fc.constantFrom("a", "b"), part),
        },
        { requiredKeys: [] },
      );
    const schema: fc.Arbitrary<JsonSchema> = holding(fc.oneof(leaf, holding(fc.oneof(leaf, holding(leaf)))));
    fc.assert(
      fc.property(schema, fc.nat(300), fc.array(name, { maxLength: 3 }), (any, maxTokens, first) => {
        const fitted = fitSchema(any, { first, maxTokens, countTokens });
        expect(size(fitted.schema)).toBeLessThanOrEqual(Math.max(maxTokens, countTokens("{}")));
        expect(fitted.omitted).toBeGreaterThanOrEqual(0);
        const broken = (of: JsonSchema) =>
          referencesOf(of).filter((to) => resolvePointer(of, to) === undefined);
        if (broken(any).length === 0) expect(broken(fitted.schema)).toEqual([]);
      }),
    );
  });
});

describe("fieldsInError", () => {
  const schema = {
    type: "object",
    properties: { title: {}, "odd name": {}, rows: {}, priority: {}, project_id: {} },
    required: ["title"],
  };

  test("names the arguments with errors, then those that were probably meant", () => {
    const errors = [
      { field: 'rows[3].name["x"]', message: "must be a string" },
      { field: '["odd name"].deep', message: "must be a number" },
      { field: "titel", message: "is not known", nearest: "title" },
      { field: "", message: "must be an object" },
    ];
    expect(fieldsInError(schema, errors)).toEqual(["rows", "odd name", "title"]);
    expect(fieldsInError(schema, [])).toEqual([]);
  });
});
