// The first words of the instructions and of the search tool, which is all that some clients show a model.
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import { loadTokenCounter } from "../../src/base/tokens/tokens.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { verifies } from "../claims.ts";
import { eventually, gatewayOf } from "../upstream-kit.ts";
import { connect } from "./connect.ts";

const SEEN_CHARS = 150;
const tool = (name: string) => defineTool({ name, description: `Does ${name}.`, execute: () => 1 });
const domain = (name: string) =>
  defineDomain({ name, description: `All about ${name}.`, tools: [tool("list_things"), tool("read_thing")] });

async function seen(gateway: ReturnType<typeof createGateway>) {
  const server = createMcpServer(gateway, {});
  const { client } = await connect(server, "2025-11-25");
  onTestFinished(async () => {
    await client.close();
    await server.close();
    await gateway.close();
  });
  const instructions = client.getInstructions() ?? "";
  const { tools } = await client.listTools();
  return { instructions, tools, ask: tools[0]?.description ?? "" };
}

verifies("mcp:seen", "the domains come first, not their number", async () => {
  const names = ["github", "notion", "files", "calendar"];
  const { instructions, ask } = await seen(createGateway({ domains: names.map(domain) }));
  for (const text of [instructions, ask]) {
    const first = text.slice(0, SEEN_CHARS);
    for (const name of names) expect(first).toContain(name);
    expect(first).not.toMatch(/\d/);
  }
});

test("the words do not depend on which domain was there first, so prompt caches hold", async () => {
  const domains = ["github", "notion", "files"].map(domain);
  const [one, other] = [
    await seen(createGateway({ domains })),
    await seen(createGateway({ domains: domains.toReversed() })),
  ];
  expect(one.instructions).toBe(other.instructions);
  expect(one.tools).toEqual(other.tools);
});

test("of many domains the first are named, and the menu keeps its budget", async () => {
  const names = Array.from({ length: 60 }, (_, at) => `domain-${String.fromCharCode(97 + (at % 26))}-${at}`);
  const { instructions, ask, tools } = await seen(createGateway({ domains: names.map(domain) }));
  for (const text of [instructions, ask])
    expect(names.filter((name) => text.slice(0, SEEN_CHARS).includes(name)).length).toBeGreaterThan(4);
  const countTokens = await loadTokenCounter();
  const menu = tools.map(({ _meta, ...shown }) => shown);
  expect(countTokens(JSON.stringify(menu))).toBeLessThanOrEqual(900);
});

test("a server that says nothing of itself is described by its tools, as far as the reader may see them", async () => {
  const config = { command: process.execPath, args: [resolve("test/rich-upstream.ts")] };
  const gateway = gatewayOf([
    createMcpSource("rich", config, { trusted: true }),
    createMcpSource("unknown", config, { trusted: false }),
  ]);
  await eventually(async () => expect((await gateway.view()).find("rich.logo")).toBeDefined(), 30_000);
  await eventually(async () => expect((await gateway.view()).domains.has("unknown")).toBe(true), 30_000);
  const { ask } = await seen(gateway);
  const lineOf = (name: string) => ask.split("\n").find((line) => line.startsWith(`- ${name}`));
  for (const name of ["broken", "every_kind", "logo"]) expect(lineOf("rich")).toContain(name);
  expect(lineOf("unknown") ?? "- unknown").toBe("- unknown");
  const found = await gateway.ask({ query: "logo" });
  expect(found.text).toContain("## rich\n");
});

test("a server whose instructions are a manual, or that has one tool, is described by its tools", async () => {
  const { resolve: find } = createRequire(import.meta.url);
  const server = (name: string) => {
    const path = dirname(find(`@modelcontextprotocol/${name}/package.json`));
    return { command: process.execPath, args: [join(path, "dist/index.js")] };
  };
  const gateway = gatewayOf([
    createMcpSource("everything", server("server-everything"), { trusted: true }),
    createMcpSource("thinking", server("server-sequential-thinking"), { trusted: true }),
  ]);
  for (const op of ["everything.echo", "thinking.sequentialthinking"])
    await eventually(async () => expect((await gateway.view()).find(op)).toBeDefined(), 30_000);
  const { ask, instructions } = await seen(gateway);
  expect(ask).toMatch(/^- everything: echo\(message\), /m);
  expect(ask).toMatch(/^- thinking: sequentialthinking\(thought, /m);
  expect(instructions.match(/thinking/g)).toHaveLength(1);
});
