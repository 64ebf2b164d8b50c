import { describe, expect, test } from "vitest";
import { FORMATS } from "./compile-schema.ts";
import type { ParseOutcome } from "./field-error.ts";
import type { JsonSchema } from "./json-schema.ts";
import { validateParams } from "./validate-params.ts";

const check = async (inputSchema: JsonSchema, params: unknown): Promise<ParseOutcome> =>
  validateParams({ inputSchema }, params);

async function errorsOf(inputSchema: JsonSchema, params: unknown): Promise<string[]> {
  const outcome = await check(inputSchema, params);
  return outcome.ok ? [] : outcome.errors.map(({ field, message }) => `${field}: ${message}`);
}

describe("patterns", () => {
  test.each(["^(a+)+$", "^(a|aa)+$", "(.*a){12}", "^([a-z]+)*$", "(x+x+)+y"])(
    "%s answers fast on 100,000 characters",
    async (pattern) => {
      const schema = { properties: { a: { type: "string", pattern } } };
      await check(schema, { a: "a" });
      await check(schema, { a: `${"a".repeat(100_000)}!` });
    },
  );

  test("decide", async () => {
    const schema = { properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    expect(await check(schema, { a: "aaa" })).toEqual({ ok: true, value: { a: "aaa" } });
    expect(await errorsOf(schema, { a: "ab" })).toEqual([
      'a: must match the pattern "^(a+)+$", got string "ab"',
    ]);
  });

  test("of two tools, and of two fields, do not affect each other", async () => {
    const digits = { properties: { a: { pattern: "^[0-9]+$" }, b: { pattern: "^[a-z]+$" } } };
    const letters = { properties: { a: { pattern: "^[a-z]+$" } } };
    expect(await check(digits, { a: "1", b: "x" })).toMatchObject({ ok: true });
    expect(await check(letters, { a: "x" })).toMatchObject({ ok: true });
    expect(await errorsOf(digits, { a: "x", b: "1" })).toHaveLength(2);
    expect(await errorsOf(letters, { a: "1" })).toHaveLength(1);
  });

  test.each(["^(?=.*[0-9]).+$", "(?<!a)b", "(a)\\1", "(?<q>a)\\k<q>", "["])(
    "that cannot be checked are named: %s",
    async (pattern) => {
      const schema = { properties: { code: { type: "string", pattern }, other: {} } };
      expect(await check(schema, { code: "zzz" })).toEqual({
        ok: true,
        value: { code: "zzz" },
        warnings: ["The pattern of code is not checked: it uses unsupported syntax."],
      });
      expect(await errorsOf(schema, { code: 1 })).toHaveLength(1);
      expect(await check(schema, { other: 1 })).toEqual({ ok: true, value: { other: 1 } });
    },
  );

  test("for names that cannot be checked refuse no name", async () => {
    const schema = {
      patternProperties: { "^(?!x)": { type: "string" }, "^n_": { type: "number" } },
      additionalProperties: false,
    };
    expect(await check(schema, { abc: "x", n_1: 1 })).toMatchObject({
      ok: true,
      warnings: [expect.any(String)],
    });
    expect(await errorsOf(schema, { n_1: "x" })).toEqual(['n_1: must be a number, got string "x"']);
  });

  test("that cost too much for a text are skipped with a warning", async () => {
    const schema = { properties: { a: { type: "string", pattern: "[a-z]{1,1000}[0-9]" } } };
    expect(await check(schema, { a: "a".repeat(1_000_000) })).toMatchObject({
      ok: true,
      warnings: ["Some text is too long for its pattern to be checked."],
    });
  });
});

describe("hostile pairs of schema and params", () => {
  const choice = { $ref: "#/$defs/n" };
  const doubling: JsonSchema = {
    properties: { a: choice },
    $defs: {
      n: {
        anyOf: [
          { properties: { a: choice }, required: ["b"] },
          { properties: { a: choice }, required: ["c"] },
        ],
      },
    },
  };
  let nested: unknown = {};
  for (let level = 0; level < 60; level += 1) nested = { a: nested };

  test.each<[string, JsonSchema, unknown]>([
    ["alternatives that double with depth", doubling, nested],
    [
      "very many errors",
      {
        properties: {
          a: { items: { required: Array.from({ length: 9000 }, (_, index) => `field${index}`) } },
        },
      },
      { a: Array.from({ length: 9000 }, () => ({})) },
    ],
    [
      "many distinct items",
      { properties: { a: { uniqueItems: true, items: { type: "string" } } } },
      { a: Array.from({ length: 4900 }, (_, x) => ({ x })) },
    ],
  ])("%s end soon, and are refused", async (_, schema, params) => {
    expect(await check(schema, params)).toMatchObject({ ok: false });
  });

  const evil = [
    "a",
    "a@",
    "1",
    "a.",
    "a-",
    "/",
    "~0",
    "%41",
    "a:",
    "a@a",
    "-",
    "P1",
    "http://a@",
    "::",
    "{a}",
    " ",
    "\n",
  ];
  test.each([...FORMATS.keys()])("format %s takes linear time", async (format) => {
    const schema = { properties: { a: { type: "string", format } } };
    await check(schema, { a: "a" });
    for (const part of evil) {
      for (const prefix of ["", "http://", "a@", "2026-01-31T09:00:00."]) {
        await check(schema, { a: `${prefix}${part.repeat(50_000)}\u0001` });
      }
    }
  });
});
