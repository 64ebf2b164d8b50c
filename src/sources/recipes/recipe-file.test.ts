import fc from "fast-check";
import { expect, test } from "vitest";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { LANES } from "../../core/nouns/entry.ts";
import { paramsOf, type Recipe, toParamsSchema } from "../../core/nouns/recipe.ts";
import { parseRecipe, writeRecipe } from "./recipe-file.ts";

const words = fc
  .string({ minLength: 1, maxLength: 60, unit: "grapheme" })
  .map((text) => toVisibleText(text).replaceAll(/\s+/g, " ").trim())
  .filter((text) => text !== "");
const recipe: fc.Arbitrary<Recipe> = fc.record({
  name: fc.constantFrom("a", "tidy-orders", "tidy_orders"),
  description: words,
  lane: fc.constantFrom(...LANES),
  confirmation: fc.boolean(),
  params: fc.dictionary(
    fc.constantFrom("below", "ids"),
    fc.constantFrom("number", "array?", { type: "string" }),
  ),
  calls: fc.array(fc.constantFrom("shop.order.list", "shop.order.delete")),
  scopes: fc.array(fc.constantFrom("admin", "sales")),
  code: fc
    .array(fc.constantFrom("return 1", "---", "```", "````", "~~~", "// `tick`", "  indented", ""))
    .map((lines) => `let a;\n${lines.join("\n")}`.trim()),
});

test("a written recipe is read back as it was, whatever its code", () => {
  fc.assert(
    fc.property(recipe, (given) => {
      expect(parseRecipe(`${given.name}.md`, writeRecipe(given))).toEqual(given);
    }),
  );
});

test.each([
  ["a.md", "---\ndescription: A.\n---\n", "there is no code in it"],
  ["a.md", "```js\nreturn 1\n```", "description"],
  ["a.md", "---\ndescription: A.\nparams:\n  x: much\n---\nreturn 1", "params.x"],
  ["a.md", "---\ndescription: A.\n---\nreturn '\u202e'", "invisible characters"],
  ["A b.md", "---\ndescription: A.\n---\nreturn 1", "its name"],
])("%s with %j is refused with the reason", (file, text, reason) => {
  expect(() => parseRecipe(file, text)).toThrow(
    expect.objectContaining({ code: "FILE_INVALID", message: expect.stringContaining(reason) }),
  );
});

test("code without a fence is the whole text, and a person's file reads unless it says more", () => {
  expect(parseRecipe("a.md", "---\ndescription: A.\n---\nreturn 1\n")).toEqual({
    name: "a",
    description: "A.",
    lane: "read",
    confirmation: false,
    params: {},
    scopes: [],
    code: "return 1",
  });
});

test("params are types or schemas, required unless they say otherwise", () => {
  const params = {
    a: "number",
    b: "string?",
    c: { type: "string", default: "x" },
    d: { type: "object", required: ["e"] },
    e: { type: "boolean", required: false },
  };
  expect(toParamsSchema(params)).toEqual({
    type: "object",
    properties: {
      a: { type: "number" },
      b: { type: "string" },
      c: { type: "string", default: "x" },
      d: { type: "object", required: ["e"] },
      e: { type: "boolean" },
    },
    required: ["a", "d"],
    additionalProperties: false,
  });
  expect(paramsOf({ a: 1, b: "x", c: [1], d: {}, e: true, f: null })).toEqual({
    a: "number",
    b: "string",
    c: "array",
    d: "object",
    e: "boolean",
    f: "object?",
  });
  expect(paramsOf({ "not a name": 1 })).toBeUndefined();
});
