// Installs the packed package into an empty folder and tries it on every Node that is alive, without a network, and on
// old ones, which get one sentence. --this-node tries it on the running Node alone.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fetchNode, installPacked } from "./packed.ts";

const isThisNodeOnly = process.argv.includes("--this-node");
const VERSIONS = isThisNodeOnly ? [] : ["22.23.3", "24.9.0"];
const OLD = isThisNodeOnly ? [] : ["12.22.12", "18.20.8"];

const CONFIG = `import { defineDomain, defineTool } from "keyhole";
import { z } from "zod";

const note = defineTool({
  name: "create_note",
  description: "Write down a note.",
  inputSchema: z.object({ text: z.string() }),
  execute: ({ text }: { text: string }) => ({ text }),
});
export const domains = [defineDomain({ name: "notes", description: "Notes.", tools: [note] })];
`;

const { folder, program, remove } = installPacked();
try {
  // npm makes this folder a CommonJS package, as that of most strangers.
  writeFileSync(join(folder, "keyhole.config.ts"), CONFIG);
  for (const node of [process.execPath, ...VERSIONS.flatMap((version) => fetchNode(version) ?? [])]) {
    await tryOn(node);
  }
  for (const version of OLD) {
    const node = fetchNode(version);
    if (node !== undefined) tryOld(node, version);
  }
} finally {
  remove();
}

async function tryOn(node: string): Promise<void> {
  const { stdout: version } = spawnSync(node, ["--version"], { encoding: "utf8" });
  const args = ["--config", "keyhole.config.ts"];
  const { status, stdout, stderr } = spawnSync(node, [program, "ask", "write down a note", ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: folder },
  });
  expect(version, "ask", [status, stdout.split("(")[0], stderr], [0, "1. notes://tools/note/create", ""]);

  const client = new Client({ name: "check", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new StdioClientTransport({
      command: node,
      args: [program, "serve", "--allow-write", ...args],
      cwd: folder,
      env: { HOME: folder },
    }),
  );
  const { tools } = await client.listTools();
  expect(
    version,
    "serve",
    tools.map(({ name }) => name),
    ["ask", "help", "get", "exec"],
  );
  const made = await client.callTool({
    name: "exec",
    arguments: { op: "notes.note.create", args: { text: "hi" } },
  });
  expect(version, "exec", made.content[0], { type: "text", text: 'notes.note.create: {"text":"hi"}' });
  await client.close();
}

/** An old Node gets one sentence: the first file has to be readable for it. */
function tryOld(node: string, version: string): void {
  const { status, stderr } = spawnSync(node, [program, "serve"], { encoding: "utf8" });
  const sentence = `Keyhole needs Node 22.15 or newer, and this is Node ${version}. Install a newer one and try again.\n`;
  expect(version, "start", [status, stderr], [1, sentence]);
}

function expect(version: string, what: string, actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Error(
    `Node ${version.trim()}, ${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`,
  );
}
