// Adding an operation is one definition and one row: every face has it, and nothing else changes.
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { defineOperation } from "../src/core/operations/operation.ts";
import { OPERATIONS } from "../src/core/operations/operations.ts";
import { toAISDKTools } from "../src/faces/ai-sdk/ai-sdk-tools.ts";
import { createMcpServer } from "../src/faces/mcp/mcp-server.ts";
import { toAnthropicTools, toOpenAITools } from "../src/faces/plain-tools/plain-tools.ts";
import { createGateway } from "../src/gateway/create-gateway.ts";
import { createToolbox } from "../src/gateway/toolbox.ts";

/** The table with one extra row while these tests run. */
const table: Record<string, unknown> = OPERATIONS;
table.count = defineOperation({
  name: "count",
  title: "Count",
  purpose: "Counts the entries of a domain.",
  introduction: "counts entries",
  names: { lanes: "count", commands: "tool_count" },
  readOnly: true,
  input: z.object({ domain: z.string() }),
  output: z.object({ count: z.number() }),
  command: { usage: "DOMAIN", toInput: ([domain]) => ({ domain }) },
  calls: () => [],
  run: async ({ domain }, { view }) => view.shown.filter((entry) => entry.domain === domain).length,
  show: (count) => ({ count }),
  toText: ({ count }) => `${count} entries`,
  errors: () => [],
  refuse: () => ({ count: 0 }),
  cause: "help",
  targets: ({ domain }) => [domain],
});

const gateway = createGateway({
  domains: [
    {
      name: "shop",
      description: "A shop.",
      tools: [{ name: "list_orders", description: "List orders.", execute: () => [] }],
    },
  ],
});
afterAll(async () => {
  delete table.count;
  await gateway.close();
});

test("the gateway has a method for it, and runs it by name", async () => {
  const { count } = gateway as unknown as { count(input: object): Promise<{ ok: boolean; count: number }> };
  expect(await count({ domain: "shop" })).toMatchObject({ ok: true, count: 1, text: "1 entries" });
  expect(await gateway.call("count" as "ask", { domain: "shop" } as never)).toMatchObject({ count: 1 });
});

test.each([
  ["lanes", "count"],
  ["commands", "tool_count"],
] as const)("the toolbox of %s lists it as %s", async (surface, name) => {
  const toolbox = await createToolbox(gateway, { surface });
  expect(toolbox.tools.map((tool) => tool.name)).toContain(name);
  expect(await toolbox.call(name, { domain: "shop" })).toMatchObject({ ok: true, text: "1 entries" });
});

test("the vendors' tool shapes and the AI SDK include it", async () => {
  const openai = await toOpenAITools(gateway);
  const call = { id: "1", function: { name: "count", arguments: '{"domain":"shop"}' } };
  expect(await openai.call(call)).toMatchObject({ content: "1 entries" });
  const anthropic = await toAnthropicTools(gateway);
  expect(await anthropic.call({ id: "1", name: "count", input: { domain: "shop" } })).toMatchObject({
    content: "1 entries",
  });
  const { tools } = await toAISDKTools(gateway, { mode: "fixed" });
  expect(Object.keys(tools)).toContain("count");
});

test("MCP lists it, introduces it and runs it", async () => {
  const server = createMcpServer(gateway);
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  server.connect(far);
  await client.connect(near);
  expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("count");
  expect(client.getInstructions()).toContain("count counts entries");
  const { content } = await client.callTool({ name: "count", arguments: { domain: "shop" } });
  expect(content).toEqual([{ type: "text", text: "1 entries" }]);
  await client.close();
  await server.close();
});

test("a wrong input is an answer, not an exception", async () => {
  const toolbox = await createToolbox(gateway);
  const answer = await toolbox.call("count", {});
  expect(answer).toMatchObject({ ok: false, data: { error: { code: "INVALID_INPUT" } } });
});
