import { describe, expect, test } from "vitest";
import { readSchema } from "./check-schema.ts";

type Schema = Record<string, unknown>;

const tree: Schema = {
  type: "object",
  properties: { root: { $ref: "#/$defs/node" } },
  $defs: {
    node: {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
    },
  },
};

describe("readSchema accepts", () => {
  test.each<[string, Schema]>([
    ["an empty schema", {}],
    ["a recursive tree", tree],
    ["recursion through the root", { properties: { next: { $ref: "#" } } }],
    ["anchors", { properties: { a: { $ref: "#code" } }, $defs: { c: { $anchor: "code", type: "string" } } }],
    ["anchors of older drafts", { properties: { a: { $ref: "#c" } }, definitions: { c: { $id: "#c" } } }],
    ["escaped pointers", { properties: { a: { $ref: "#/$defs/a~1b%20c" } }, $defs: { "a/b c": {} } }],
    ["definitions kept elsewhere", { $ref: "#/components/x", components: { x: { type: "object" } } }],
    ["an argument named $ref", { properties: { $ref: { type: "string" }, enum: { type: "string" } } }],
    ["arguments named like object members", { properties: JSON.parse('{"__proto__":{},"constructor":{}}') }],
    ["a recursive choice", expression()],
    ["31 alternatives", { anyOf: Array.from({ length: 31 }, (_, index) => ({ const: index })) }],
    ["tuples and name lists of older drafts", { items: [{}, true], dependencies: { a: ["b"], c: {} } }],
  ])("%s", (_, schema) => {
    expect(readSchema(schema)).toMatchObject({ ok: true });
  });
});

describe("readSchema refuses", () => {
  test.each<[string, () => unknown, RegExp]>([
    ["text", () => "object", /not an object/],
    ["null", () => null, /not an object/],
    ["lists", () => [{}], /not an object/],
    ["functions", () => ({ default: () => 1 }), /contains a function/],
    ["depth 2,000", () => nested(2000), /deeper/],
    ["depth 33", () => nested(33), /deeper than 32/],
    ["depth 200,000", () => nested(200_000), /deeper/],
    ["depth 200,000 in a default", () => ({ default: deepList(200_000) }), /deeper/],
    ["a cycle of objects", cyclic, /deeper/],
    ["objects that share parts", shared, /larger|deeper/],
    ["20,000 properties", () => ({ properties: properties(20_000) }), /larger|2000 subschemas/],
    ["2,001 properties", () => ({ properties: properties(2001) }), /more than 2000 subschemas/],
    ["a 5 MB enum", () => ({ enum: ["x".repeat(5_000_000)] }), /larger than 256 KB/],
    ["a 5 MB enum of many", () => ({ enum: new Array(500_000).fill("abcdefgh") }), /larger than 256 KB/],
    ["a 70 KB enum", () => ({ properties: { a: { enum: ["x".repeat(70_000)] } } }), /enum of a .* 64 KB/],
    ["a self reference", () => ({ $ref: "#" }), /without end/],
    ["a self reference in a definition", () => loop("$ref"), /without end/],
    ["a self reference by $dynamicRef", () => ({ $dynamicAnchor: "n", $dynamicRef: "#n" }), /without end/],
    ["a loop through allOf, not and if", throughApplicators, /without end/],
    ["anyOf to the power of 18", () => fanOut(18), /multiply to more than 10000/],
    ["references elsewhere", () => ({ $ref: "https://example.com/s.json" }), /outside the document/],
    ["references to files", () => ({ items: { $ref: "file:///etc/passwd" } }), /outside the document/],
    ["references to nothing", () => ({ $ref: "#/$defs/none" }), /leads nowhere/],
    ["references up the prototype", () => ({ $ref: "#/constructor" }), /leads nowhere/],
    ["references with bad escapes", () => ({ $ref: "#/%E0%A4%A" }), /leads nowhere/],
    ["references that are no text", () => ({ $ref: 5 }), /must be text/],
    ["references below an embedded id", embedded, /embedded/],
    [
      "subschemas that are none",
      () => ({ properties: { a: "string" } }),
      /properties\/a \(a\) is not a schema/,
    ],
    ["getters that throw", throwing, /reading it fails/],
    ["endless proxies", endless, /deeper|larger/],
    ["sparse arrays", () => ({ enum: new Array(4_000_000_000) }), /larger/],
  ])("%s", (_, make, reason) => {
    const schema = make();
    expect(readSchema(schema)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
    // The promise is 100 ms; the rest is for a busy machine.
  });
});

function nested(depth: number): Schema {
  let schema: Schema = { type: "string" };
  for (let level = 0; level < depth; level += 1) schema = { type: "object", properties: { a: schema } };
  return schema;
}

function deepList(depth: number): unknown {
  let list: unknown = 1;
  for (let level = 0; level < depth; level += 1) list = [list];
  return list;
}

function properties(count: number): Schema {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { type: "string" }]));
}

function cyclic(): Schema {
  const schema: Schema = { type: "object" };
  schema.properties = { self: schema, other: schema };
  return schema;
}

function shared(): Schema {
  let schema: Schema = { type: "string" };
  for (let level = 0; level < 30; level += 1) schema = { properties: { a: schema, b: schema } };
  return schema;
}

function loop(keyword: string): Schema {
  return {
    properties: { a: { $ref: "#/$defs/a" } },
    $defs: { a: { [keyword]: "#/$defs/b" }, b: { [keyword]: "#/$defs/a" } },
  };
}

function throughApplicators(): Schema {
  const $defs = {
    a: { allOf: [{ $ref: "#/$defs/b" }] },
    b: { not: { if: { $ref: "#/$defs/c" } } },
    c: { oneOf: [{}, { $ref: "#/$defs/a" }] },
  };
  return { properties: { x: { $ref: "#/$defs/c" } }, $defs };
}

function fanOut(power: number): Schema {
  const $defs: Schema = { [`d${power}`]: { type: "string" } };
  for (let level = 0; level < power; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { anyOf: [next, next] };
  }
  return { properties: { a: { $ref: "#/$defs/d0" } }, $defs };
}

function embedded(): Schema {
  return {
    properties: { a: { $id: "https://example.com/a", items: { $ref: "#/$defs/x" } } },
    $defs: { x: {} },
  };
}

function throwing(): Schema {
  return {
    get properties(): unknown {
      throw new TypeError("no");
    },
  };
}

function endless(): object {
  const schema: object = new Proxy(
    {},
    {
      get: () => schema,
      ownKeys: () => ["properties", "items"],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
    },
  );
  return schema;
}

function expression(): Schema {
  const binary = (op: string) => ({
    type: "object",
    properties: { op: { const: op }, args: { type: "array", items: { $ref: "#/$defs/expression" } } },
  });
  return {
    properties: { filter: { $ref: "#/$defs/expression" } },
    $defs: { expression: { anyOf: [binary("and"), binary("or"), { type: "string" }] } },
  };
}
