import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, vi } from "vitest";
import { verifies } from "./claims.ts";
import { programEnv } from "./program-env.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const CONFIG = resolve("examples/playground/keyhole.json");

/** Starts the program with the config, as a client does. */
function connect(...flags: string[]): Promise<Client> {
  return serve("--config", CONFIG, "--trust", "--no-daemon", ...flags);
}

async function serve(...flags: string[]): Promise<Client> {
  const home = temporaryFolder();
  const client = new Client({ name: "test", version: "1" });
  const args = [resolve("src/program/main.ts"), "serve"];
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...args, ...flags],
      env: programEnv(home),
      cwd: home,
      stderr: "inherit",
    }),
  );
  onTestFinished(() => client.close());
  return client;
}

verifies(
  "config:playground",
  "one JSON config serves the four systems of the playground, and each answers",
  async () => {
    const client = await connect("--allow-write");
    const text = async (name: string, input: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: input });
      return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    };
    // Servers start while others answer.
    const ready = (name: string, op: string) =>
      vi.waitFor(async () => expect(await text("help", { path: name })).toContain(op), {
        timeout: 60_000,
        interval: 200,
      });
    await Promise.all([
      ready("onto", "onto_project_create"),
      ready("cms", "cms_page_list"),
      ready("warehouse", "warehouse_analyst"),
    ]);
    expect(client.getInstructions()).toBe(
      "Four systems of a company. Ask for what you need; the library has its guides.",
    );

    expect(await text("ask", { query: "create a project", domain: "onto" })).toContain("onto_project_create");
    expect(
      await text("exec", { op: "onto.onto_project_create", args: { title: "A house by the lake" } }),
    ).toContain("A house by the lake");

    expect(await text("ask", { query: "find an image", domain: "cms" })).toContain("cms_image_find");
    expect(await text("exec", { op: "cms.cms_page_list", args: {} })).toContain("page_projects");

    expect(await text("ask", { query: "fraud analyst", domain: "warehouse" })).toContain("analyst");
    expect(await text("exec", { op: "warehouse.warehouse_analyst", args: { query: "fraud" } })).toContain(
      "fraud",
    );

    expect(await text("ask", { query: "production is down right now" })).toContain(
      "library://resources/workflows/incident-response",
    );
    expect(await text("get", { routes: [{ route: "orchestr8://workflows/incident-response" }] })).toContain(
      "All-clear",
    );
    expect(
      await text("get", { routes: [{ route: "orchestr8://match?query=slow+query&mode=index" }] }),
    ).toContain("sql-query-tuning");
    expect(await text("ask", { query: "who pays for train tickets", domain: "handbook" })).toContain(
      "handbook://resources/pages/travel",
    );
  },
);

verifies("config:playground", "a folder of plain documents is served by one flag", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "night"));
  writeFileSync(join(folder, "refunds.md"), "# Refunds\n\nHow to refund a customer within 14 days.\n");
  writeFileSync(join(folder, "night/calls.md"), "# Calls\n\nWhom to call when the shop is closed.\n");
  const client = await serve("--library", folder);
  const call = async (name: string, input: Record<string, unknown>) =>
    JSON.stringify((await client.callTool({ name, arguments: input })).content);
  await vi.waitFor(async () =>
    expect(await call("ask", { query: "refund a customer" })).toContain("refunds"),
  );
  const found = /[\w-]+:\/\/resources\/night\/calls/.exec(
    await call("ask", { query: "whom to call at night" }),
  );
  expect(await call("get", { routes: [found?.[0]] })).toContain("when the shop is closed");
});
