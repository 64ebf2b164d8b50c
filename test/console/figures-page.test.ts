import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { programEnv } from "../program-env.ts";
import { callText, chaos, MAIN, openProgram } from "../threats/program.ts";
import { eventually } from "../upstream-kit.ts";
import { axe, findChromium, goTo, openConsoleOf } from "./browser.ts";
import { OVERFLOW } from "./in-page.ts";

const chromium = findChromium();

beforeAll(() => buildConsole({ ifChanged: true }));

test("figures tell what happened before the console was opened, by client as it lists tools itself, and after a restart", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const program = openProgram();
  const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
  const connect = async (name: string) => {
    const client = new Client({ name, version: "1" });
    const args = [MAIN, "serve", "--trust", "--allow-write", "--config", config];
    const env = programEnv(program.home);
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }),
    );
    onTestFinished(() => client.close());
    await client.listTools();
    return client;
  };
  // The first shows whole definitions by itself, the second the names of tools alone.
  const clients = [await connect("opencode"), await connect("claude-code")];
  for (const client of clients) {
    await callText(client, "ask", { query: "add numbers" });
    await callText(client, "exec", { op: "chaos.add", args: { sum: 1 } });
  }

  const page = await openConsoleOf(program);
  const rowOf = async (name: string) => {
    const cells = await page
      .getByRole("row", { name: new RegExp(`^${name}`) })
      .locator("td")
      .allTextContents();
    const [without = 0, withKeyhole = 0, saved = 0] = cells
      .slice(2)
      .map((text) => Number(text.replace(",", "")));
    return { way: cells[1], without, withKeyhole, saved };
  };
  for (const name of [/^opencode/, /^claude-code/]) await page.getByRole("row", { name }).waitFor();
  const [whole, names] = [await rowOf("opencode"), await rowOf("claude-code")];
  expect(whole.way).toBe("whole definitions");
  expect(names.way).toContain("names alone");
  expect(names.without).toBeGreaterThan(0);
  expect(names.without).toBeLessThan(whole.without);
  for (const row of [whole, names]) expect(row.saved).toBe(row.without - row.withKeyhole);
  expect(await axe(page)).toEqual([]);
  await goTo(page, "usage", "Usage");
  const tools = page.getByRole("region", { name: "Calls by tool" }).getByRole("row", { name: /^chaos\.add/ });
  await eventually(async () => expect(await tools.locator("td").nth(1).textContent()).toBe("2"));
  expect(Number(await tools.locator("td").nth(3).textContent())).toBeGreaterThan(0);
  expect(await axe(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 860 });
  expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);

  await goTo(page, "sessions", "Sessions");
  const sessions = page.getByRole("link", { name: / as local/ });
  expect(await sessions.count()).toBe(2);
  await page.getByLabel("Agent and client").selectOption("claude-code as local");
  await page.getByRole("heading", { name: "claude-code as local" }).waitFor();
  expect(await sessions.count()).toBe(1);
  expect(await axe(page)).toEqual([]);

  await Promise.all(clients.map((client) => client.close()));
  await program.keyhole("serve", "--stop");
  await eventually(async () => expect((await program.keyhole("servers")).out).toContain("not running"));
  const again = await connect("opencode");
  const later = await openConsoleOf(program);
  const menus = later.getByText("3 menus shown");
  await menus.waitFor();
  await again.close();
});
