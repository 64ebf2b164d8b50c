import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { chaos, openProgram } from "../threats/program.ts";
import { eventually } from "../upstream-kit.ts";
import { axe, findChromium, goTo, openConsoleOf } from "./browser.ts";
import { OVERFLOW } from "./in-page.ts";

const chromium = findChromium();

beforeAll(() => buildConsole({ ifChanged: true }));

test("the page of a server shows its tools, use and log, and changes its config, which the gateway follows", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const program = openProgram();
  const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
  const servers = () => JSON.parse(readFileSync(config, "utf8")).mcpServers;
  const call = await program.serve("--trust", "--allow-write", "--config", config);
  await call("exec", { op: "chaos.add", args: { sum: 1 } });
  const page = await openConsoleOf(program);

  await goTo(page, "servers", "Servers");
  await page.getByRole("link", { name: "chaos" }).click();
  await page.getByRole("heading", { name: "chaos", level: 1 }).waitFor();
  const row = page.getByRole("row", { name: /\badd\b/ });
  await row.waitFor();
  expect(await row.locator("td").nth(3).textContent()).toBe("1");
  await page.getByLabel("When add asks you").selectOption("before each call");
  await eventually(() => expect(servers().chaos.askTools).toEqual({ add: "always" }));
  const waits = page.locator("[aria-live=assertive]").getByText("1 call waits");
  const asked = waits.waitFor({ state: "attached" }).then(() => "asked");
  // The gateway reads the file a moment later.
  let answer = call("exec", { op: "chaos.add", args: { sum: 2 } });
  while ((await Promise.race([answer, asked])) !== "asked")
    answer = call("exec", { op: "chaos.add", args: { sum: 2 } });
  expect(await axe(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 860 });
  expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1280, height: 860 });

  await goTo(page, "approvals", "Approvals");
  await page.getByRole("button", { name: "Approve" }).click();
  expect(await answer).toContain('"sum":2');
  await goTo(page, "servers/mcp:chaos", "chaos");

  // The lines of a process that has ended stay, with how it ended.
  await call("exec", { op: "chaos.crash", args: {} });
  await call("exec", { op: "chaos.cancelled", args: {} });
  await page.getByRole("region", { name: "Log of chaos" }).getByText("fatal: chaos was asked for").waitFor();
  expect(await page.getByRole("region", { name: "Log of chaos" }).textContent()).toMatch(
    /fatal: chaos was asked for\s+\[it exited with code 7\]/,
  );

  await page.getByRole("button", { name: "Hide add" }).click();
  await page.getByRole("button", { name: "Show again add" }).waitFor();
  await row.waitFor({ state: "detached" });
  expect(servers().chaos.excludeTools).toEqual(["add"]);
  await page.getByRole("button", { name: "Show again add" }).click();
  await row.waitFor();

  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByRole("button", { name: "Switch on chaos" }).click();
  await page.getByRole("link", { name: "chaos" }).waitFor();
  expect(servers().chaos.disabled).toBeUndefined();

  await call("exec", { op: "chaos.cancelled", args: {} });
  await page.getByLabel("Name").fill("notes");
  await page.getByLabel("Command or address").fill("node notes.mjs --here");
  await page.getByRole("button", { name: "Add it" }).click();
  await page.getByRole("link", { name: "notes" }).waitFor();
  // The no to a program that waits.
  await goTo(page, "approvals", "Approvals");
  await page.getByRole("button", { name: "Switch notes off" }).click();
  await page.getByText("Nothing waits").waitFor();
  expect(servers().notes.disabled).toBe(true);
  await goTo(page, "servers", "Servers");
  await page.getByRole("button", { name: "Switch on notes" }).click();
  await page.getByRole("link", { name: "notes" }).waitFor();
  // The other server is shown as it runs, with its log.
  await page.getByRole("row", { name: /^chaos runs/ }).waitFor();
  await page.getByRole("link", { name: "notes" }).click();
  await eventually(() => expect(servers().notes).toEqual({ command: "node", args: ["notes.mjs", "--here"] }));
  await page.getByRole("button", { name: "Remove…" }).click();
  await page.getByRole("button", { name: /^Remove it from/ }).click();
  await page.getByRole("heading", { name: "Servers", level: 1 }).waitFor();
  await eventually(() => expect(Object.keys(servers())).toEqual(["chaos"]));

  // A config that cannot be read changes nothing, and says so.
  writeFileSync(config, "{ no JSON");
  await goTo(page, "overview", "Overview");
  await page.getByText(/mcp\.json:1:\d+ cannot be used.*The last good config stays in use/).waitFor();
  await goTo(page, "servers/mcp:chaos", "chaos");
  await page.getByText("runs", { exact: true }).waitFor();
});

test("a tool has a page of its own, rules ask by name and pattern, and a server is edited and renamed there", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  const program = openProgram();
  const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
  const settings = () => JSON.parse(readFileSync(config, "utf8"));
  const call = await program.serve("--trust", "--allow-write", "--config", config);
  await call("exec", { op: "chaos.add", args: { sum: 1 } });
  const page = await openConsoleOf(program);
  await goTo(page, "servers/mcp:chaos", "chaos");
  await page.getByLabel("Filter the tools").fill("add");
  await page.getByRole("link", { name: "add", exact: true }).click();
  await page.getByRole("heading", { name: "add", level: 1 }).waitFor();
  expect(await page.getByRole("region", { name: "Parameters of add" }).textContent()).toContain(
    '"type": "object"',
  );
  await page.getByText(/1 call, 0 failed/).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByLabel("When add asks you").selectOption("never");
  await eventually(() => expect(settings().mcpServers.chaos.askTools).toEqual({ add: "never" }));
  await page.getByLabel("Another name for add").fill("sum_up");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByText("chaos.sum_up").waitFor();
  expect(settings().overrides.chaos.tools).toEqual({ add: { name: "sum_up" } });
  expect(await call("exec", { op: "chaos.sum_up", args: { sum: 3 } })).toContain('"sum":3');
  await page.setViewportSize({ width: 360, height: 860 });
  expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1280, height: 860 });

  await goTo(page, "servers/mcp:chaos", "chaos");
  await page.getByLabel("A rule for tools named").fill("a*");
  await page.getByLabel("When they ask you").selectOption("if it writes");
  await page.getByRole("button", { name: "Add the rule" }).click();
  await page.getByRole("button", { name: "Remove the rule a*" }).waitFor();
  expect(settings().mcpServers.chaos.askTools).toEqual({ add: "never", "a*": "writes" });
  await page.getByLabel("When its tools ask you").selectOption("before each call");
  await eventually(() => expect(settings().mcpServers.chaos.ask).toBe("always"));
  await page.getByRole("button", { name: "Remove the rule add" }).click();
  const choice = page.getByLabel("When add asks you").locator("option:checked");
  await expect.poll(() => choice.textContent()).toBe("by a rule: if it writes");
  expect(await axe(page)).toEqual([]);

  const line = page.getByLabel("Command or address");
  expect(await line.inputValue()).toMatch(/^\S+node \S+chaos-upstream\.ts$/);
  await line.fill(`NOTE='a b' ${await line.inputValue()} "two words"`);
  await page.getByRole("button", { name: /^Save it/ }).click();
  await eventually(() => expect(settings().mcpServers.chaos.args.at(-1)).toBe("two words"));
  await page.getByRole("link", { name: "Look and decide" }).waitFor();
  expect(settings().mcpServers.chaos).toMatchObject({ command: process.execPath, env: { NOTE: "a b" } });
  // Text that the person wrote beside it stays.
  expect(settings().mcpServers.chaos.ask).toBe("always");
});
