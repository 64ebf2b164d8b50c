import { createGateway, loadTokenCounter, type Principal } from "keyhole";
import { createMcpServer, type McpServerOptions } from "keyhole/mcp";
import { describe, expect, test } from "vitest";
import { verifies } from "../claims.ts";
import { clerk, createShop, reader } from "../shop.ts";
import { connect, connectHttp, ERAS } from "./connect.ts";

function serve(options: McpServerOptions = {}, principal: Principal = clerk) {
  const shop = createShop();
  const gateway = createGateway({ domains: shop.domains, principal });
  return { ...shop, gateway, server: createMcpServer(gateway, { structured: true, ...options }) };
}

describe.each(ERAS)("a client of %s", (era) => {
  describe.each([
    ["stdio", connect],
    ["http", connectHttp],
  ] as const)("over %s", (_, open) => {
    verifies("mcp:both-eras", "lists, asks, reads and runs", async () => {
      const { server, calls } = serve();
      const { client } = await open(server, era);
      expect(client.getInstructions()).toContain("shop (Orders and customers of a small shop)");
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(["ask", "help", "get", "exec"]);

      const asked = await client.callTool({ name: "ask", arguments: { query: "create_order" } });
      expect(asked.structuredContent).toHaveProperty("hits.0.route", "shop://tools/order/create");
      const got = await client.callTool({
        name: "get",
        arguments: { routes: [{ route: "shop://resources/manual" }] },
      });
      expect(textOf(got)).toContain("Press the green button.");
      const helped = await client.callTool({ name: "help", arguments: { path: "shop.order.create" } });
      expect(helped.structuredContent).toMatchObject({ path: "shop.order.create" });
      const done = await client.callTool({
        name: "exec",
        arguments: { op: "shop.order.create", args: { customer: "c1" } },
      });
      expect(done.structuredContent).toMatchObject({ ok: true, result: { customer: "c1" } });
      expect(calls.made).toHaveLength(1);
      await client.close();
      await server.close();
    });

    verifies("mcp:problems", "hears from a refusal what to do next", async () => {
      const { server } = serve({}, reader);
      const { client } = await open(server, era);
      await client.listTools();
      const refused = await client.callTool({
        name: "exec",
        arguments: { op: "shop.order.create", args: { customer: "c" } },
      });
      expect(refused.isError).toBe(true);
      expect(refused.structuredContent).toMatchObject({ ok: false, error: { code: "PERMISSION_DENIED" } });
      expect(textOf(refused)).toMatch(/PERMISSION_DENIED: .* Use exec with dry_run: true/);
      const wrong = await client.callTool({ name: "ask", arguments: { question: 1 } });
      expect(wrong.isError).toBe(true);
      expect(wrong.structuredContent).toMatchObject({
        error: { code: "INVALID_INPUT", next: expect.stringContaining("call again") },
      });
      await expect(client.callTool({ name: "nothing" })).rejects.toThrow(/Unknown tool: nothing/);
      await server.close();
    });

    verifies("mcp:byte-stable", "gets the same bytes after discoveries, calls and reconnects", async () => {
      const { server, gateway } = serve({ listTtlMs: 0 });
      const first = await open(server, era);
      const before = await listBytes(first);
      await first.client.callTool({ name: "ask", arguments: { query: "ledger", session: "new" } });
      await first.client.callTool({
        name: "get",
        arguments: { routes: [{ route: "shop://tools/clerk-guide" }] },
      });
      await first.client.callTool({
        name: "exec",
        arguments: { op: "shop.order.create", args: { customer: "c" } },
      });
      expect(await listBytes(first)).toBe(before);
      await first.client.close();
      const second = await open(server, era);
      expect(await listBytes(second)).toBe(before);
      const { domains } = createShop();
      await gateway.setDomains(domains.map((domain) => ({ ...domain, rules: "Other rules." })));
      expect(await listBytes(second)).toBe(before);
      await server.close();
    });
  });
});

describe("surfaces", () => {
  verifies("mcp:surfaces", "each has its own tools, all within the budget", async () => {
    const countTokens = await loadTokenCounter();
    const expected = {
      lanes: ["ask", "help", "get", "exec"],
      routes: ["ask", "get"],
      commands: ["tool_help", "tool_exec", "tool_batch", "tool_search"],
    } as const;
    for (const [surface, names] of Object.entries(expected)) {
      const options = { surface: surface as keyof typeof expected, toolSearch: true };
      const { server, gateway } = serve(options);
      const { client } = await connect(server, "2026-07-28");
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(names);
      expect(countTokens(JSON.stringify(await gateway.menu(options)))).toBeLessThanOrEqual(900);
      expect(JSON.stringify(tools)).toMatch(/Behind it, to call by \w+ as domain\.name:\\n- shop: /);
      for (const tool of tools) {
        expect(tool).toMatchObject({ title: expect.any(String) });
        expect(tool).not.toHaveProperty("outputSchema");
        expect(tool._meta).toMatchObject({ "anthropic/alwaysLoad": true });
        const reads = ["ask", "help", "get", "tool_help", "tool_search"].includes(tool.name);
        const mayWrite = surface === "routes" && tool.name === "get";
        expect([tool.name, tool.annotations?.readOnlyHint]).toEqual([tool.name, reads && !mayWrite]);
      }
      await server.close();
    }
  });

  verifies("mcp:text-alone", "answers are text alone, unless a request asks for structure", async () => {
    const { server } = serve({ structured: false });
    const { client } = await connect(server, "2026-07-28");
    const call = { name: "exec", arguments: { op: "shop.order.list" } };
    const plain = await client.callTool(call);
    expect(plain).not.toHaveProperty("structuredContent");
    expect(textOf(plain)).toContain("shop.order.list:");
    const wrong = await client.callTool({ name: "exec", arguments: { op: "shop.order.lst" } });
    expect(wrong).not.toHaveProperty("structuredContent");
    const asked = await client.callTool({ ...call, _meta: { "keyhole/structured": true } });
    expect(asked.structuredContent).toMatchObject({ op: "shop.order.list", ok: true });
    await server.close();
  });

  verifies("mcp:surfaces", "commands run help, exec and batch", async () => {
    const { server, calls } = serve({ surface: "commands" });
    const { client } = await connect(server, "2025-11-25");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["tool_help", "tool_exec", "tool_batch"]);
    const answer = await client.callTool({
      name: "tool_batch",
      arguments: {
        requests: [
          { exec: { op: "shop.order.create", args: { customer: "a" } } },
          {
            exec: {
              op: "shop.order.create",
              args: { customer: { $result: 0, path: "/customer" } },
            },
          },
        ],
      },
    });
    expect(answer.structuredContent).toMatchObject({ summary: { total: 2, success: 2 } });
    expect(calls.made.map(({ params }) => params)).toEqual([{ customer: "a" }, { customer: "a" }]);
    await server.close();
  });

  verifies(
    "mcp:surfaces",
    "native lists every visible tool, and none that is hidden or out of scope",
    async () => {
      const { server, calls } = serve({ surface: "native" });
      const { client } = await connect(server, "2026-07-28");
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([
        "shop_clerk-guide",
        "shop_order_create",
        "shop_order_delete",
        "shop_order_list",
        "shop_refund_send",
      ]);
      const remove = tools.find(({ name }) => name === "shop_order_delete");
      expect(remove?.annotations).toEqual({ readOnlyHint: false, destructiveHint: true });
      const made = await client.callTool({ name: "shop_order_create", arguments: { customer: "c" } });
      expect(made.structuredContent).toEqual({ id: 1, customer: "c" });
      const wrong = await client.callTool({ name: "shop_order_create", arguments: {} });
      expect(wrong).toMatchObject({
        isError: true,
        structuredContent: { error: { code: "INVALID_PARAMS" } },
      });
      await expect(client.callTool({ name: "audit_report" })).rejects.toThrow(/Unknown tool/);
      expect(calls.made).toHaveLength(1);
      await server.close();
    },
  );

  verifies("mcp:get-may-write", "get may write on routes with allowWrite, and nowhere else", async () => {
    const get = (name = "c") => ({
      name: "get",
      arguments: { routes: [{ route: "shop.order.create", params: { customer: name } }] },
    });
    const codeOf = (answer: { structuredContent?: unknown }) =>
      (answer.structuredContent as { results: { error?: { code: string } }[] }).results[0]?.error?.code;
    const cases = [
      ["routes", clerk, undefined],
      ["routes", reader, "PERMISSION_DENIED"],
      ["lanes", clerk, "ACCESS_DENIED"],
    ] as const;
    for (const [surface, principal, code] of cases) {
      const { server, calls } = serve({ surface }, principal);
      const { client } = await connect(server, "2026-07-28");
      expect(codeOf(await client.callTool(get()))).toBe(code);
      expect(calls.made).toHaveLength(code ? 0 : 1);
      await server.close();
    }
    const { server, calls } = serve({ surface: "routes" });
    const { client } = await connect(server, "2026-07-28");
    const destroy = await client.callTool({
      name: "get",
      arguments: { routes: [{ route: "shop.order.delete", params: { id: 1 } }] },
    });
    expect(textOf(destroy)).toContain("Tell the person");
    expect(calls.made).toEqual([]);
    await server.close();
  });

  test("native names do not depend on the order of the tools", async () => {
    const tool = (route: string) => ({
      name: "Same name",
      route,
      description: "A tool.",
      execute: () => "done",
    });
    const names = async (routes: string[]) => {
      const gateway = createGateway({
        domains: [{ name: "d", description: "A domain.", tools: routes.map(tool) }],
      });
      return (await gateway.menu({ surface: "native" })).map(({ name }) => name);
    };
    const both = await names(["d://tools/a/b", "d://tools/a_b"]);
    expect(new Set(both).size).toBe(2);
    expect(await names(["d://tools/a_b", "d://tools/a/b"])).toEqual(both);
    const [long] = await names([`d://tools/${"x".repeat(200)}`]);
    expect(long).toHaveLength(64);
  });
});

async function listBytes({ client, received }: Awaited<ReturnType<typeof connect>>): Promise<string> {
  const { length } = received;
  const { tools } = await client.listTools();
  const wire = received.slice(length).find((text) => text.includes('"tools":['));
  return wire ? wire.slice(wire.indexOf('"tools":['), wire.lastIndexOf("]")) : JSON.stringify(tools);
}

function textOf(answer: { content: readonly { type: string }[] }): string {
  return answer.content.map((block) => ("text" in block ? String(block.text) : "")).join("\n");
}
