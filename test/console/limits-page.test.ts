import { resolve } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { buildConsole } from "../../scripts/build-console.ts";
import { isolationMissing } from "../bubblewrap.ts";
import { agree, openProgram } from "../threats/program.ts";
import { axe, findChromium, goTo, openConsoleOf } from "./browser.ts";

const chromium = findChromium();
const missing = await isolationMissing();

beforeAll(() => buildConsole({ ifChanged: true }));

/** A server that says of each tool that it reaches nobody, served by the daemon. */
async function serveFiles() {
  const program = openProgram();
  program.write("data/a.txt", "x");
  const file = resolve("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
  const files = { command: process.execPath, args: [file, `${program.folder}/data`] };
  const config = program.write("mcp.json", { mcpServers: { files } });
  await agree(program, "files", "--config", config);
  const call = await program.serve("--config", config);
  return { program, config, call };
}

async function processOf(page: Page): Promise<string> {
  return (await page.getByText(/^process \d+/).textContent()) ?? "";
}

test("proposed limits stand beside the tools that wait, in the words of the terminal, and a yes starts the server within them", async ({
  skip,
}) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  if (missing) return skip(missing);
  const { program, config } = await serveFiles();
  const inTerminal = (await program.keyhole("approve", "files", "--config", config)).out;
  const page = await openConsoleOf(program);
  await goTo(page, "approvals", "Approvals");
  const shown = page.getByRole("region", { name: "Proposed sandbox of files" });
  for (const line of ((await shown.textContent()) ?? "").split("\n")) expect(inTerminal).toContain(line);
  expect(await shown.textContent()).toContain("reaches  no host");
  expect(await axe(page)).toEqual([]);

  await goTo(page, "servers/mcp:files", "files");
  // The daemon has its list from the approval, so nothing has started it yet.
  await page.getByRole("button", { name: "Restart files" }).click();
  const before = await processOf(page);
  await page.getByRole("button", { name: "Keep files to this sandbox" }).click();
  await shown.waitFor({ state: "detached" });
  await expect.poll(() => processOf(page)).not.toBe(before);
  expect((await program.keyhole("servers", "files", "--config", config)).out).toContain("reaches  no host");
  await goTo(page, "approvals", "Approvals");
  await page.getByText(/definitions wait/).waitFor();
  expect(await shown.count()).toBe(0);
});

test("limits that are accepted in the terminal start the server again at its next call", async ({ skip }) => {
  if (!chromium) return skip("no Chromium on this machine; apt-get install chromium");
  if (missing) return skip(missing);
  const { program, config, call } = await serveFiles();
  const page = await openConsoleOf(program);
  await goTo(page, "servers/mcp:files", "files");
  // The daemon has its list from the approval, so nothing has started it yet.
  await page.getByRole("button", { name: "Restart files" }).click();
  const before = await processOf(page);
  // The tools and the limits.
  await agree(program, "files", "--config", config);
  const read = { op: "files.read_text_file", args: { path: `${program.folder}/data/a.txt` } };
  await expect.poll(() => call("exec", read)).toContain("files>x<");
  await expect.poll(() => processOf(page)).not.toBe(before);
});
