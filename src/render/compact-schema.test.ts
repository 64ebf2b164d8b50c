import { expect, test } from "vitest";
import { compactSchema } from "./compact-schema.ts";

test("what only a validator needs is left out, at any depth", () => {
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

test("names and data that are spelt like keywords stay", () => {
  const schema = {
    type: "object",
    properties: {
      minLength: { type: "integer", default: 3 },
      size: { enum: [{ maxLength: 3 }], default: { minItems: 1 } },
    },
    required: ["minLength"],
  };
  expect(compactSchema(schema)).toEqual(schema);
});
