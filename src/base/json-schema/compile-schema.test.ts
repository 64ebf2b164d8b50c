import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSchema } from "./check-schema.ts";
import { FORMATS, isPlainlyValid } from "./compile-schema.ts";
import { prepareSchema } from "./prepare-schema.ts";
import { createRegexEngine, Meter } from "./regex-engine.ts";
import { SCHEMA_KEYWORDS } from "./schema-keywords.ts";

describe("plainly valid schemas", () => {
  it.each([
    { type: "object", properties: { a: { type: ["string", "null"], minLength: 1 } }, required: ["a"] },
    { type: "object", $defs: { b: { enum: [1, 2] } }, properties: { b: { $ref: "#/$defs/b" } } },
    { anyOf: [{ type: "array", items: { type: "number", minimum: -0.5 } }, true], "x-order": [3] },
  ])("are seen without the whole check: %j", (schema) => {
    expect(isPlain(schema)).toBe(true);
  });

  it.each([
    { type: "text" },
    { type: [] },
    { required: ["a", "a"] },
    { minLength: -1 },
    { multipleOf: 0 },
    { anyOf: [] },
    { properties: { a: { format: 5 } } },
    { $anchor: "5" },
  ])("are never those that the whole check refuses: %j", (schema) => {
    expect(isPlain(schema)).toBe(false);
  });

  it("are valid by the whole check, whatever the schema", () => {
    const meta = new Ajv2020({ strict: false, validateFormats: false, logger: false });
    const keyword = fc.constantFrom(...SCHEMA_KEYWORDS.keys(), "x-other");
    const { schema } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>(
          "string",
          "a",
          -1,
          0,
          1.5,
          true,
          null,
          [],
          ["a"],
          ["a", "a"],
          ["null", "string"],
        ),
        tie("schema"),
        fc.array(tie("schema"), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom("a", "b"), tie("schema"), { maxKeys: 2 }),
      ),
      schema: fc.dictionary(keyword, tie("value"), { maxKeys: 3 }),
    }));
    let plain = 0;
    fc.assert(
      fc.property(schema, (one) => {
        const prepared = prepare(one);
        if (!prepared || !isPlainlyValid(prepared.nodes)) return;
        plain++;
        expect(meta.validateSchema(prepared.schema)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
    expect(plain).toBeGreaterThan(100);
  });
});

function isPlain(schema: unknown): boolean {
  return isPlainlyValid(prepare(schema)!.nodes);
}

/** Undefined for a schema that is refused before. */
function prepare(schema: unknown) {
  const read = readSchema(schema);
  if (!read.ok) return undefined;
  prepareSchema(read.nodes, createRegexEngine(new Meter()), FORMATS);
  return read;
}
