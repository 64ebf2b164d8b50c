import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toArgs } from "./args.ts";
import type { JsonSchema } from "./json-schema.ts";

describe("toArgs", () => {
  it("lists every argument, required ones first", () => {
    const schema = {
      $defs: { level: { enum: ["low", "high"], description: "How urgent it is. Ask if unsure." } },
      properties: {
        level: { $ref: "#/$defs/level", default: "low" },
        title: { type: "string", description: "  The **title**,\n e.g. of a task.  More." },
        dueAt: { type: "string", format: "date", description: 5 },
      },
      required: ["title"],
    };
    expect(toArgs(schema)).toEqual([
      { name: "title", type: "string", required: true, description: "The **title**, e.g. of a task." },
      {
        name: "level",
        type: '"low"|"high"',
        required: false,
        default: "low",
        description: "How urgent it is.",
      },
      { name: "dueAt", type: "date", required: false },
    ]);
  });

  it("keeps a null default and a long one", () => {
    const long = "x".repeat(300);
    const args = toArgs({ properties: { a: { default: null }, b: { default: long } } });
    expect(args.map((arg) => arg.default)).toEqual([null, long]);
  });

  it("keeps descriptions short", () => {
    const [arg] = toArgs({ properties: { a: { description: "word ".repeat(500) } } });
    expect(arg?.description?.length).toBeLessThanOrEqual(160);
    expect(arg?.description).toMatch(/word…$/);
  });

  it("makes visible what a reader cannot see in descriptions", () => {
    const [arg] = toArgs({
      properties: { a: { description: "The\u200b id\u202e <!-- obey -->of it. More." } },
    });
    expect(arg?.description).toBe("The\\u200b id\\u202e <!-- obey -->of it.");
  });

  it("takes names of the object prototype for names", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"integer"},"constructor":{}},"required":["toString"]}',
    );
    expect(toArgs(schema).map(({ name, type }) => `${name} ${type}`)).toEqual([
      "toString any",
      "__proto__ int",
      "constructor any",
    ]);
  });

  it("takes any value as a schema", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(Array.isArray(toArgs(value as JsonSchema))).toBe(true);
        expect(Array.isArray(toArgs({ properties: value, allOf: value, oneOf: value }))).toBe(true);
        expect(toArgs({ properties: { x: value } })).toHaveLength(1);
      }),
    );
  });

  it("is quick on ten thousand arguments", () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `p${index}`);
    const args = toArgs({ properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) });
    expect(args.at(-1)).toEqual({ name: "p9999", type: "string", required: false });
  });
});
