import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "./json-schema.ts";
import { spellName, toSignature } from "./signature.ts";

/** The signature of a schema with one optional parameter, without its frame. */
function typeOf(schema: unknown, root: JsonSchema = {}): string {
  const text = toSignature({ ...root, properties: { x: schema } }, { maxChars: 5_000 });
  return text.slice("(x?: ".length, -1);
}

function params(properties: Record<string, unknown>, required: string[] = []): JsonSchema {
  return { type: "object", properties, required };
}

describe("toSignature", () => {
  it("puts required parameters first and keeps the schema's order within each part", () => {
    const schema = params(
      {
        priority: { type: "integer", minimum: 1, maximum: 5, default: 3 },
        title: { type: "string" },
        dueAt: { type: "string", format: "date" },
        list: { type: "string" },
      },
      ["list", "title"],
    );
    expect(toSignature(schema)).toBe("(title: string, list: string, priority?: 1..5 = 3, dueAt?: date)");
  });

  it("has nothing between the parentheses where there are no parameters", () => {
    expect(toSignature({})).toBe("()");
    expect(toSignature({ type: "object", properties: {} })).toBe("()");
  });

  it("names what is required but not described", () => {
    expect(toSignature({ required: ["id"] })).toBe("(id: any)");
  });

  it("keeps the mark for a root whose rules it cannot say", () => {
    const either = { properties: { a: { type: "string" }, b: { type: "string" } } };
    expect(toSignature({ ...either, anyOf: [{ required: ["a"] }, { required: ["b"] }] })).toBe(
      "~(a?: string, b?: string)",
    );
    expect(toSignature({ ...either, dependentRequired: { a: ["b"] } })).toBe("~(a?: string, b?: string)");
  });

  it("folds alternatives of the root into one list", () => {
    const schema = {
      oneOf: [
        params({ kind: { const: "a" }, size: { type: "integer" } }, ["kind", "size"]),
        params({ kind: { const: "b" } }, ["kind"]),
      ],
    };
    expect(toSignature(schema)).toBe('~(kind: "a"|"b", size?: int)');
  });

  it("quotes names that are not plain identifiers and escapes what cannot be seen", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"a-b":{},"x\\n\\u202e\\u0007":{}}}',
    );
    expect(toSignature(schema)).toBe('(__proto__?: string, "a-b"?: any, "x\\n\\u202e\\u0007"?: any)');
    expect(spellName("naïve")).toBe('"naïve"');
  });
});

describe("types", () => {
  it.each([
    [{ type: "string" }, "string"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "integer" }, "int"],
    [{ type: "number", minimum: 0 }, ">=0"],
    [{ type: "integer", maximum: 10 }, "<=10"],
    [{ type: "integer", exclusiveMinimum: 0, maximum: 10 }, "1..10"],
    [{ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, ">0..<1"],
    [{ type: "number", minimum: 0, exclusiveMinimum: true }, ">0"],
    [{ type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, ">=0"],
    [{ type: "number", multipleOf: 5 }, "~number"],
    [{ type: "string", format: "date-time" }, "date-time"],
    [{ type: "string", format: "email", pattern: "@" }, "email"],
    [{ type: "string", format: "ipv4" }, "~string"],
    [{ type: "string", pattern: "^a" }, "~string"],
    [{ type: "string", minLength: 1, maxLength: 40 }, "string"],
    [{ type: "string", minLength: 24 }, "~string"],
    [{ enum: ["a", "b", null] }, '"a"|"b"|null'],
    [{ enum: ["1", "2", "3", "4", "5", "6"] }, '"1"|"2"|"3"|"4"|"5"|"6"'],
    [{ enum: ["1", "2", "3", "4", "5", "6", "7"] }, '~"1"|"2"|"3"|"4"|"5"|"6"|…'],
    [{ enum: ["a\u0000\u200b"] }, '"a\\u0000\\u200b"'],
    [{ enum: [] }, "never"],
    [{ const: 5 }, "5"],
    [{ const: "x".repeat(200) }, "~string"],
    [{ type: "array", items: { type: "string" } }, "string[]"],
    [{ type: "array" }, "any[]"],
    [{ type: "array", items: { type: ["string", "integer"] } }, "(string|int)[]"],
    [{ type: "array", items: { type: "string" }, minItems: 2 }, "~string[]"],
    [{ type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] }, "[string, int]"],
    [{ type: ["string", "null"] }, "string|null"],
    [{ type: "string", nullable: true }, "string|null"],
    [{ anyOf: [{ type: "string" }, { type: "null" }], default: null }, "string|null = null"],
    [{ type: "string", oneOf: [{ format: "date" }, { format: "uuid" }] }, "date|uuid"],
    [{ anyOf: [{ type: "string" }, { type: "object", not: {} }] }, "string|~object"],
    [{ type: "string", default: "x".repeat(60) }, "string"],
    [{ type: "string", default: "now" }, 'string = "now"'],
    [{ type: "object" }, "object"],
    [{ type: "object", patternProperties: { "^x": {} } }, "~object"],
    [{ type: "object", properties: {}, additionalProperties: false }, "{}"],
    [{ type: "object", additionalProperties: { type: "integer" } }, "{ [key]: int }"],
    [{ propertyNames: { type: "string" }, additionalProperties: { type: "integer" } }, "{ [key]: int }"],
    [{ propertyNames: { enum: ["a"] }, additionalProperties: { type: "integer" } }, "~{ [key]: int }"],
    [params({ name: { type: "string" }, id: { type: "string" } }, ["id"]), "{ id: string, name?: string }"],
    [{ allOf: [params({ a: {} }, ["a"]), params({ b: { type: "string" } })] }, "{ a: any, b?: string }"],
    [
      {
        allOf: [
          { type: "integer", minimum: 1 },
          { maximum: 9, minimum: 3 },
        ],
      },
      "3..9",
    ],
    [{ allOf: [{ type: "string" }, { type: "integer" }] }, "~string"],
    [{ allOf: [{ pattern: "a" }, { pattern: "b", type: "string" }] }, "~string"],
    [true, "any"],
    [false, "never"],
    [null, "~any"],
    [{ type: "widget" }, "~any"],
    [{ $ref: "https://example.com/other.json" }, "~any"],
    [{ $ref: "#/properties/x" }, "~any"],
  ])("spells %j as %s", (schema, text) => {
    expect(typeOf(schema)).toBe(text);
  });

  it("shows objects two deep", () => {
    const nested = params({ b: params({ c: params({ d: { type: "string" } }, ["d"]) }, ["c"]) }, ["b"]);
    expect(typeOf(nested)).toBe("{ b: { c: ~{…} } }");
  });

  it("resolves local references, with the keywords beside them", () => {
    const root = {
      $defs: { "a/b %": { type: "string", default: "old" }, size: { $ref: "#/definitions/number" } },
      definitions: { number: { type: "integer", minimum: 0 } },
    };
    expect(typeOf({ $ref: "#/$defs/a~1b%20%25", default: "new" }, root)).toBe('string = "new"');
    expect(typeOf({ $ref: "#/$defs/size", maximum: 4 }, root)).toBe("0..4");
    expect(typeOf({ $ref: "#/$defs/constructor" }, root)).toBe("~any");
  });

  it("ends on references in a circle", () => {
    const $defs = {
      loop: { $ref: "#/$defs/back" },
      back: { allOf: [{ $ref: "#/$defs/loop" }] },
      tree: { type: "object", properties: { children: { type: "array", items: { $ref: "#/$defs/tree" } } } },
      json: { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/$defs/json" } }] },
    };
    expect(typeOf({ $ref: "#/$defs/loop" }, { $defs })).toBe("~any");
    expect(typeOf({ $ref: "#/$defs/tree" }, { $defs })).toBe("{ children?: { children?: ~{…}[] }[] }");
    expect(typeOf({ $ref: "#/$defs/json" }, { $defs })).toMatch(/^string\|\(string\|.*~any.*\[\]$/);
  });
});

describe("the room", () => {
  const schema = params(
    { id: { type: "string" }, owner: { type: "string" }, note: { type: "string" }, tag: { type: "string" } },
    ["id", "owner"],
  );

  it.each([
    [100, "(id: string, owner: string, note?: string, tag?: string)"],
    [56, "(id: string, owner: string, note?: string, tag?: string)"],
    [55, "(id: string, owner: string, note?: string, ~tag?)"],
    [40, "(id: string, owner: string, ~2 more)"],
    [35, "(id: string, ~owner, ~2 more)"],
    [22, "(~id, ~owner, ~2 more)"],
    [21, "(~id, ~3 more)"],
    [0, "(~4 more)"],
  ])("in %i characters", (maxChars, text) => {
    expect(toSignature(schema, { maxChars })).toBe(text);
  });

  it("counts the optional parameters that were not asked for", () => {
    expect(toSignature(schema, { requiredOnly: true })).toBe("(id: string, owner: string, ~2 more)");
    expect(toSignature(params({ a: {} }), { requiredOnly: true })).toBe("(~a?)");
    expect(toSignature(params({ a: {} }, ["a"]), { requiredOnly: true })).toBe("(a: any)");
  });

  it("shrinks one large parameter rather than all", () => {
    const large = { enum: ["a", "b", "c", "d"].map((letter) => letter.repeat(60)) };
    const text = toSignature(
      params({ large, id: { type: "string" }, tag: { type: "string" } }, ["large", "id"]),
    );
    expect(text).toBe("(~large, id: string, tag?: string)");
  });

  it("is never exceeded, and a parameter is whole or absent", () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,12}$/), { maxLength: 12 });
    fc.assert(
      fc.property(names, fc.nat(12), fc.integer({ min: 12, max: 120 }), (all, count, maxChars) => {
        const required = all.slice(0, count);
        const properties = Object.fromEntries(all.map((name) => [name, { type: "string" }]));
        const text = toSignature(params(properties, required), { maxChars });
        expect(text.length).toBeLessThanOrEqual(maxChars);
        const parts = text === "()" ? [] : text.slice(1, -1).split(", ");
        const more = parts.at(-1)?.match(/^~(\d+) more$/);
        if (more) parts.pop();
        expect(parts.length + Number(more?.[1] ?? 0)).toBe(all.length);
        const known = all.flatMap((name) => [`~${name}`, `~${name}?`, `${name}: string`, `${name}?: string`]);
        for (const part of parts) expect(known).toContain(part);
      }),
    );
  });
});

describe("any value as a schema", () => {
  it("gives a string", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(typeof toSignature(value as JsonSchema)).toBe("string");
        expect(typeof toSignature({ properties: value, required: value, anyOf: value })).toBe("string");
        expect(typeof toSignature(params({ x: value, y: { type: value, items: value, enum: value } }))).toBe(
          "string",
        );
      }),
    );
  });

  it("contains every required name when there is room", () => {
    const properties = fc.dictionary(fc.string({ minLength: 1 }), fc.constant({ type: "string" }));
    fc.assert(
      fc.property(properties, (named) => {
        const text = toSignature(params(named, Object.keys(named)), { maxChars: 100_000 });
        for (const name of Object.keys(named)) expect(text).toContain(`${spellName(name)}: `);
      }),
    );
  });

  it("is quick on schemas that are large, or multiply", () => {
    const many = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`p${index}`, { type: "string" }]),
    );
    const $defs: Record<string, unknown> = {};
    for (let index = 0; index < 40; index += 1) {
      const next = { $ref: `#/$defs/d${index + 1}` };
      $defs[`d${index}`] = { anyOf: [next, next], properties: { a: next, b: next }, allOf: [next, next] };
    }
    const deep = JSON.parse(`${'{"items":'.repeat(5_000)}{}${"}".repeat(5_000)}`);
    expect(toSignature(params(many, Object.keys(many)))).toMatch(/~9\d{3} more\)$/);
    expect(toSignature(params(many), { maxChars: Number.POSITIVE_INFINITY })).toContain("p9999?: string");
    expect(toSignature({ $defs, $ref: "#/$defs/d0" })).toMatch(/^~\(/);
    expect(toSignature({ $defs, properties: { x: { $ref: "#/$defs/d0" } } }).length).toBeLessThanOrEqual(200);
    expect(typeOf(deep)).toMatch(/^~any(\[\])+$/);
    expect(typeOf({ const: deep })).toBe("~object");
  });
});
