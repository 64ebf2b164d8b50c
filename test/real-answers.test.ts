// Answers over servers that people use say only what helps.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { fromMcpConfig } from "keyhole/sources";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installTool } from "../scripts/tool.ts";
import { toExampleArgs } from "../src/base/json-schema/example-args.ts";
import { listOf } from "../src/base/util/plain-object.ts";
import { unlessUnreachable } from "./unless-unreachable.ts";
import { operator } from "./upstream-kit.ts";

const folder = mkdtempSync(join(tmpdir(), "keyhole-test-"));
const server = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, ...args],
  env: { MEMORY_FILE_PATH: join(folder, "memory.json") },
});
const packages = await unlessUnreachable(() => installTool("servers"));
const installed = (program: string) => ({
  command: process.execPath,
  args: [join(packages ?? "", "node_modules/.bin", program)],
});
const mcpServers = {
  ...(packages !== undefined && {
    github: installed("mcp-server-github"),
    notion: installed("notion-mcp-server"),
    playwright: installed("playwright-mcp"),
  }),
  everything: server("everything", "stdio"),
  files: server("filesystem", folder),
  memory: server("memory"),
  thinking: server("sequential-thinking"),
};
const gateway = createGateway({
  sources: fromMcpConfig({ mcpServers }, { trusted: true }),
  principal: operator,
  ask: "never",
});
beforeAll(async () => {
  writeFileSync(join(folder, "list.txt"), "one\ntwo\n");
  await gateway.sources.refresh();
}, 60_000);
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

async function tools() {
  const { entries } = await gateway.view();
  return entries.filter(({ kind }) => kind === "tool");
}

test.runIf(packages)(
  "a read is proposed with all its arguments, is not deprecated, and is about a thing that the call names",
  async () => {
    const session = await gateway.openSession();
    const proposed: string[] = [];
    for (const { op, lane, inputSchema } of await tools()) {
      if (lane === "read") continue;
      const { text } = await gateway.exec({ op, args: toExampleArgs(inputSchema), session, dryRun: true });
      const [, read = "", args = "{}"] = /Read first: (\S+) (\{.*\})\./.exec(text) ?? [];
      if (read === "") continue;
      proposed.push(`${op} ${read}`);
      const entry = (await gateway.view()).find(read)!;
      for (const name of listOf(entry.inputSchema.required))
        expect(JSON.parse(args)).toHaveProperty([String(name)]);
      expect(entry.description).not.toMatch(/^deprecated/i);
      expect(Object.keys(JSON.parse(args))).not.toEqual([]);
    }
    expect(proposed).toContain("notion.API-update-a-block notion.API-retrieve-a-block");
    expect(proposed.filter((pair) => /^(?:files|memory|playwright)\./.test(pair))).toEqual([]);
  },
);

test("every tool is found by its name in one line that hides no single argument and no deprecation", async () => {
  for (const { op, name, description, route } of await tools()) {
    const { text, hits } = await gateway.ask({ query: name });
    expect(hits[0]?.op).toBe(op);
    const [line = ""] = text.split("\n").filter((each) => each.includes(route));
    expect(line).not.toMatch(/~1 more\b|listing of \d/);
    if (/\bDEPRECATED\b/.test(description)) expect(line).toContain("DEPRECATED");
    expect(line).not.toContain("Hesitate");
    const headings = text.split("\n").filter((each) => each.startsWith("## "));
    expect(new Set(headings).size).toBe(headings.length);
  }
});

test("a plan lists its effects as planned, each argument once", async () => {
  const write = { path: join(folder, "new.txt"), content: "Written by a plan." };
  const code = `return call("files.write_file", ${JSON.stringify(write)});`;
  const { text } = await gateway.run({ code, dryRun: true });
  expect(text).not.toMatch(/\bdone\b/i);
  expect(text).toMatch(/^1\. planned files\.write_file /m);
  const effects = text.slice(text.indexOf("Effects:"));
  expect(effects.split(write.content)).toHaveLength(2);
});
