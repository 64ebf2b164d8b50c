import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { programEnv } from "../program-env.ts";
import { MAIN, openProgram } from "../threats/program.ts";
import { ERAS, type Era } from "./connect.ts";

/** A shop that notes in a file what it has done. */
const CONFIG = (done: string) => `
import { appendFileSync } from "node:fs";
import { defineDomain, defineTool } from ${JSON.stringify(resolve("src/index.ts"))};
import { z } from ${JSON.stringify(import.meta.resolve("zod"))};
const tool = (name, more) => defineTool({ name, op: "shop.order." + name, description: name + " an order of the shop", ...more });
export const domains = [defineDomain({ name: "shop", description: "A shop.", tools: [
  tool("get", { lane: "read", inputSchema: z.object({ id: z.number() }), outputSchema: z.object({ total: z.number() }), execute: ({ id }) => ({ total: 10 * id }) }),
  tool("list", { lane: "read", inputSchema: z.object({}), execute: () => ({ items: [{ id: 1, customer: "Ann" }, { id: 2, customer: "Bob" }] }) }),
  tool("pay", { lane: "write", requiresConfirmation: true, inputSchema: z.object({ id: z.number() }),
    execute: ({ id }) => { appendFileSync(${JSON.stringify(done)}, "pay " + id + "\\n"); return { paid: id }; } }),
] })];`;

async function serve(era: Era, approves: boolean) {
  const program = openProgram();
  const done = join(program.folder, "done");
  const config = program.write("shop.config.mjs", CONFIG(done));
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: era === "2026-07-28" ? { pin: era } : "legacy" },
    },
  );
  const questions: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    questions.push(params.message);
    return approves ? { action: "accept", content: { approve: true } } : { action: "decline" };
  });
  const args = [MAIN, "serve", "--config", config, "--surface", "code", "--allow-write"];
  const env = programEnv(program.home);
  const command = { command: process.execPath, args, cwd: program.folder, env, stderr: "ignore" as const };
  await client.connect(new StdioClientTransport(command));
  onTestFinished(() => client.close());
  return {
    questions,
    did: () => (existsSync(done) ? readFileSync(done, "utf8").trim().split("\n") : []),
    call: async (name: string, given: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: given });
      return (content as { text: string }[]).map(({ text }) => text).join("\n");
    },
  };
}

describe.each(ERAS)("the program, for a client of %s", (era) => {
  test("asks a person about a whole plan once, and performs each effect once", async () => {
    const { call, did, questions } = await serve(era, true);
    const code =
      "const { items } = await tools.shop.order.list({}); for (const { id } of items) await tools.shop.order.pay({ id }); return 'all paid';";
    expect(await call("run", { code })).toContain("all paid");
    expect(did()).toEqual(["pay 1", "pay 2"]);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain('{"op":"shop.order.pay","args":{"id":2}}');
  });

  test("performs nothing of a plan that the person declines", async () => {
    const { call, did, questions } = await serve(era, false);
    const code = "for (const id of [1, 2]) await tools.shop.order.pay({ id });";
    expect(await call("run", { code })).toContain("APPROVAL_DECLINED");
    expect(questions).toHaveLength(1);
    expect(did()).toEqual([]);
  });
});

test("the program tells the types of results: declared, then observed, and the nearest field", async () => {
  const { call } = await serve("2026-07-28", true);
  const declared = await call("ask", { query: "get an order" });
  expect(declared).toMatch(/order\/get\(id: number\) => \{ total: number \}/);
  expect(await call("run", { code: "return tools.shop.order.list({})" })).toContain("Ann");
  const observed = await call("ask", { query: "list orders of the shop" });
  expect(observed).toMatch(/order\/list.*customer: string/);
  expect(observed).toContain("observed");
  expect(observed).not.toContain("Ann");
  const missed = await call("run", {
    code: "const { items } = await tools.shop.order.list({}); return items[0].costumer.length;",
  });
  expect(missed).toContain("costumer");
  expect(missed).toContain("customer");
});
