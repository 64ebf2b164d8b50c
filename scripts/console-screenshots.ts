// Draws the pictures of the console in `docs/images/`: npm run console:pictures
import { mkdirSync } from "node:fs";
import { createGateway, type Gateway } from "keyhole";
import { serveConsole } from "keyhole/http";
import { createMcpServer } from "keyhole/mcp";
import { fromMcpConfig } from "keyhole/sources";
import type { Page } from "playwright-core";
import { GUEST, PLAYGROUND } from "../examples/playground/principals.ts";
import { createSystems } from "../examples/playground/systems.ts";
import { faceApiOf } from "../src/gateway/face-api.ts";
import { createMemoryAuditStore } from "../test/audit-kit.ts";
import { findChromium, openBrowser } from "../test/console/browser.ts";
import { buildConsole } from "./build-console.ts";

const FOLDER = process.argv[2] ?? "docs/images";
const TASKS = { command: process.execPath, args: ["examples/upstream/tasks-server.ts"] };
const executable = findChromium();
if (!executable) throw new Error("Chromium not found: apt-get install chromium");

await buildConsole({ ifChanged: true });
mkdirSync(FOLDER, { recursive: true });
const systems = createSystems();
const gateway = createGateway({
  domains: systems.flatMap(({ domains }) => domains),
  sources: [...systems.flatMap(({ sources }) => sources), ...fromMcpConfig({ mcpServers: { tasks: TASKS } })],
  principal: PLAYGROUND,
  audit: { store: createMemoryAuditStore() },
});
const server = createMcpServer(gateway);
const http = await serveConsole(gateway, server, { principals: () => [PLAYGROUND, GUEST] });
await gateway.ready();
await work(gateway);

const browser = await openBrowser(executable);
try {
  const page = await browser.newPage();
  page.on("pageerror", (error) => console.error(error));
  await page.goto(http.consoleLink);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  for (const name of ["overview", "sessions", "approvals"]) await picture(page, name, `#/${name}`);
  await search(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "search-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 360, height: 740 });
  await picture(page, "overview-narrow", "#/overview");
} finally {
  await browser.close();
  await http.close();
  await server.close();
  await gateway.close();
  await Promise.all(systems.map((system) => system.close()));
}

async function search(page: Page): Promise<void> {
  await page.goto(`${new URL(http.url).origin}/console/#/search`);
  await page.locator("#need").fill("new blog post");
  await page.locator(".hit").first().click();
  await page.getByRole("button", { name: "Fill in the example" }).click();
  await page.getByRole("button", { name: /^(Read|Dry run)$/ }).click();
  await page.locator(".outcome").waitFor();
  await picture(page, "search");
}

async function picture(page: Page, name: string, hash?: string): Promise<void> {
  if (hash) await page.goto(`${new URL(http.url).origin}/console/${hash}`);
  await page.locator("[aria-busy]").waitFor({ state: "detached" });
  await page.waitForTimeout(400);
  await page.screenshot({ path: `${FOLDER}/console-${name}.png` });
}

/** Two agents at work. */
async function work(of: Gateway): Promise<void> {
  const core = faceApiOf(of);
  for (const principal of [PLAYGROUND, GUEST]) {
    await core.noteMenu(await of.menu({ principal }), { principal });
    const call = { principal, session: await of.openSession({ principal }) };
    await of.ask({ query: "new blog post, then mark the task as done" }, call);
    await of.exec({ op: "cms.post.create", args: { title: "Autumn" } }, call);
    await of.get({ routes: [{ route: "warehouse://tools/analyst", params: { query: "fraud" } }] }, call);
    await of.exec({ op: "onto.project.create", args: { title: "My first project" } }, call);
    await of.ask({ query: "book a flight to Lisbon" }, call);
    await of.ask({ query: "who approved the refund of last week" }, call);
    await of.help({ path: "onto.task.update" }, call);
    await of.exec({ op: "onto.task.upd", args: {} }, call);
  }
}
