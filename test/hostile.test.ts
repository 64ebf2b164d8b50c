import { createGateway, defineDomain, defineTool, type JsonSchema } from "keyhole";
import { expect, test } from "vitest";
import { verifies } from "./claims.ts";

function gatewayOf(schemas: Record<string, JsonSchema>) {
  const tools = Object.entries(schemas).map(([name, inputSchema]) =>
    defineTool({
      name,
      op: `lab.${name}`,
      description: `Has the schema ${name}.`,
      inputSchema,
      execute: (args) => args,
    }),
  );
  return createGateway({ domains: [defineDomain({ name: "lab", description: "For tests.", tools })] });
}

function nested(depth: number): JsonSchema {
  let schema: JsonSchema = { type: "string" };
  for (let level = 0; level < depth; level++) schema = { type: "object", properties: { next: schema } };
  return schema;
}

verifies(
  ["schema:hostile", "schema-bomb", "T17"],
  "refuses schema bombs with the reason; their neighbours work",
  async () => {
    const gateway = gatewayOf({
      deep: nested(2_000),
      self: { $ref: "#" },
      wide: {
        type: "object",
        properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`p${key}`, {}])),
      },
      remote: { $ref: "http://127.0.0.1:1/schema.json" },
      good: { type: "object", properties: { a: { type: "string" } } },
    });
    for (const name of ["deep", "self", "wide", "remote"]) {
      const answer = await gateway.exec({ op: `lab.${name}`, args: {} });
      expect(answer, name).toMatchObject({
        ok: false,
        error: { code: "UNAVAILABLE", message: expect.stringContaining("refused") },
      });
      expect(await gateway.help({ path: `lab.${name}` })).toMatchObject({
        unavailable: expect.stringContaining("invalid"),
      });
    }
    expect(await gateway.exec({ op: "lab.good", args: { a: "x" } })).toMatchObject({
      ok: true,
      result: { a: "x" },
    });
  },
);

verifies(["schema:hostile", "redos"], "checks an exploding pattern in linear time", async () => {
  const gateway = gatewayOf({
    evil: { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } },
    ahead: { type: "object", properties: { text: { type: "string", pattern: "^(?=a)a+$" } } },
  });
  const text = `${"a".repeat(50_000)}!`;
  expect(await gateway.exec({ op: "lab.evil", args: { text } })).toMatchObject({
    ok: false,
    error: { code: "INVALID_PARAMS" },
  });
  expect(await gateway.exec({ op: "lab.evil", args: { text: "aaa" } })).toMatchObject({ ok: true });
  const unchecked = await gateway.exec({ op: "lab.ahead", args: { text: "b" } });
  expect(unchecked.ok).toBe(true);
  expect(unchecked.meta.warnings.join()).toMatch(/text.*not checked/);
});

verifies("schema:hostile", "accepts legal recursion", async () => {
  const gateway = gatewayOf({
    tree: {
      type: "object",
      properties: { root: { $ref: "#/$defs/node" } },
      $defs: {
        node: {
          type: "object",
          properties: {
            name: { type: "string" },
            children: { type: "array", items: { $ref: "#/$defs/node" } },
          },
          required: ["name"],
        },
      },
    },
  });
  const good = { root: { name: "a", children: [{ name: "b" }] } };
  expect(await gateway.exec({ op: "lab.tree", args: good })).toMatchObject({ ok: true, result: good });
  const bad = await gateway.exec({ op: "lab.tree", args: { root: { name: "a", children: [{}] } } });
  expect(bad).toMatchObject({
    ok: false,
    error: { details: { fieldErrors: [{ field: "root.children[0].name" }] } },
  });
});

verifies(
  ["names:hostile", "T10"],
  "do no harm as tools, arguments, domains, handles and help paths",
  async () => {
    const names = ["constructor", "__proto__", "toString", "hasOwnProperty", "prototype"];
    const tools = names.map((name) =>
      defineTool({
        name,
        route: `lab://tools/${name}`,
        description: `The tool ${name}.`,
        inputSchema: {
          type: "object",
          properties: JSON.parse(`{"${name}":{"type":"string"}}`),
          additionalProperties: false,
        },
        execute: (args) => JSON.stringify(args),
      }),
    );
    const gateway = createGateway({
      domains: [
        defineDomain({ name: "lab", description: "For tests.", tools }),
        defineDomain({ name: "constructor", description: "A domain.", tools: [] }),
      ],
    });
    for (const name of names) {
      const args = JSON.parse(`{"${name}":"x"}`);
      expect(await gateway.exec({ op: `lab.${name}`, args }), name).toMatchObject({
        ok: true,
        result: JSON.stringify(args),
      });
      expect(await gateway.exec({ op: name, args }), name).toMatchObject({ ok: true, op: `lab.${name}` });
      expect((await gateway.ask({ query: name })).hits[0]?.op).toBe(`lab.${name}`);
      expect(await gateway.help({ path: name }), name).toMatchObject({ path: `lab.${name}` });
      const none = gatewayOf({});
      expect(await none.exec({ op: name }), name).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
      expect(await none.help({ path: name }), name).toMatchObject({
        ok: false,
        error: { code: "NOT_FOUND" },
      });
      expect(await gateway.ask({ query: "x", session: name }), name).toMatchObject({
        ok: false,
        error: {
          code: "UNKNOWN_HANDLE",
        },
      });
    }
  },
);

test("names the wrong field of an operation's input, also from plain JavaScript", async () => {
  const gateway = gatewayOf({});
  const wrong: [Promise<unknown>, RegExp][] = [
    [gateway.ask({} as never), /query or queries/],
    [gateway.ask(undefined as never), /query or queries/],
    [gateway.ask({ query: 7 } as never), /query/],
    [gateway.ask({ query: "x", maxTokens: "3" } as never), /maxTokens/],
    [gateway.get({ routes: [] }), /routes/],
    [gateway.exec({ args: {} }), /op or route/],
    [gateway.exec({ op: "a", route: "b" }), /op or route/],
    [gateway.batch({ requests: [{}] }), /help or exec/],
    [gateway.help({ path: "x", format: "long" } as never), /format/],
  ];
  for (const [call, message] of wrong) {
    expect(await call).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT", message: expect.stringMatching(message) },
    });
  }
});

test("hidden characters of outside text are visible to everyone", async () => {
  const sly = defineTool({
    name: "weather",
    description: "Weather\u202E.\u{E0041} Ignore\u200B <!-- hidden --> \u001b[31mred",
    inputSchema: { type: "object", properties: { city: { type: "string", description: "A\u202Ecity" } } },
    execute: () => "",
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "lab", description: "For tests.", tools: [sly] })],
  });
  const answers = [
    await gateway.ask({ query: "weather" }),
    await gateway.help({ path: "lab.weather", format: "full", includeSchemas: true }),
    (await gateway.report()).registry,
  ];
  const seen = JSON.stringify(answers);
  for (const raw of ["\u001b", "\u202e", "\u200b", "\u{E0041}"]) expect(seen).not.toContain(raw);
  for (const shown of ["\\\\u001b[31m", "\\\\u202e", "<!-- hidden -->"]) expect(seen).toContain(shown);
  expect(seen).not.toMatch(/(?<!\\)\\u001b/);
});
