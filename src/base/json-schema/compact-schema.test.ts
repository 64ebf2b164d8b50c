import { expect, test } from "vitest";
import { compactSchema } from "./fit-schema.ts";

test("keywords that only a validator needs are left out, at any depth", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 80, pattern: "^[a-z]+$" },
      tags: { type: "array", minItems: 1, items: { anyOf: [{ type: "string", maxLength: 9 }] } },
    },
    required: ["name"],
  };
  expect(compactSchema(schema)).toEqual({
    type: "object",
    properties: {
      name: { type: "string", pattern: "^[a-z]+$" },
      tags: { type: "array", items: { anyOf: [{ type: "string" }] } },
    },
    required: ["name"],
  });
});

test("bounds and defaults that go without saying are left out, others stay", () => {
  const schema = {
    type: "object",
    properties: {
      offset: { type: "integer", default: 0, minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      limit: { type: "integer", default: 10, minimum: 1, maximum: 40 },
      stars: { type: "integer", minimum: 2, maximum: 5 },
      dry: { type: "boolean", default: true },
      loud: { type: "boolean", default: false },
      field: { type: "string", default: "image" },
      slug: { type: "string", pattern: "^[a-z-]+$", description: "Address of the page" },
    },
  };
  expect(compactSchema(schema)).toEqual({
    type: "object",
    properties: {
      offset: { type: "integer" },
      limit: { type: "integer", maximum: 40 },
      stars: { type: "integer", minimum: 2, maximum: 5 },
      dry: { type: "boolean", default: true },
      loud: { type: "boolean" },
      field: { type: "string", default: "image" },
      slug: { type: "string", description: "Address of the page" },
    },
  });
});

test("names and data that are spelt like keywords stay", () => {
  const schema = {
    type: "object",
    properties: {
      minLength: { type: "integer" },
      size: { enum: [{ maxLength: 3 }], default: { minItems: 1 } },
    },
    required: ["minLength"],
  };
  expect(compactSchema(schema)).toEqual(schema);
});

test("definitions that nothing refers to are left out, and those behind a definition stay", () => {
  const text = { type: "string" };
  const schema = {
    type: "object",
    properties: { parent: { $ref: "#/$defs/parent" } },
    $defs: {
      parent: { properties: { id: { $ref: "#/$defs/id" } } },
      id: text,
      block: { $ref: "#/$defs/id" },
    },
  };
  const { block: _, ...needed } = schema.$defs;
  expect(compactSchema(schema)).toEqual({ ...schema, $defs: needed });
  expect(compactSchema({ type: "object", $defs: { id: text } })).toEqual({ type: "object" });
});
