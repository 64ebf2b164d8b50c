// Installs the packed package into an empty folder and tries it on every Node that is alive, without a network: a
// config in code, a real MCP server behind it, a client, and the agent. Old Nodes get one sentence. --this-node tries
// it on the running Node alone.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { serveScriptedModel } from "keyhole/testing";
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
/** A config as a person writes it. */
const CLIENT =
  '{\n  // Mine.\n  "mcpServers": { "memo": { "command": "npx", "args": ["-y", "memo"] }, },\n}\n';
const SERVER = resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");

const { folder, program, remove } = installPacked();
try {
  // npm makes this folder a CommonJS package, as that of most strangers.
  writeFileSync(join(folder, "keyhole.config.ts"), CONFIG);
  const servers = { every: { command: process.execPath, args: [SERVER, "stdio"] } };
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  for (const node of [process.execPath, ...VERSIONS.flatMap((version) => fetchNode(version) ?? [])]) {
    const home = mkdtempSync(join(folder, "home-"));
    await tryConfig(node, home);
    await tryElsewhere(node, home);
    await tryServer(node, home);
    await tryClient(node, home);
    await tryAgent(node, home);
    rmSync(home, { recursive: true, force: true });
  }
  for (const version of OLD) {
    const node = fetchNode(version);
    if (node !== undefined) await tryOld(node, version);
  }
} finally {
  remove();
}

async function tryConfig(node: string, home: string): Promise<void> {
  const args = ["--config", "keyhole.config.ts"];
  const { status, stdout, stderr } = await run(node, home, ["ask", "write down a note", ...args]);
  expect(node, "ask", [status, stdout.split("(")[0], stderr], [0, "1. notes.note.create", ""]);

  const client = new Client({ name: "check", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new StdioClientTransport({
      command: node,
      args: [program, "serve", "--allow-write", ...args],
      cwd: folder,
      env: { HOME: home },
    }),
  );
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(node, "serve", names, ["ask", "help", "get", "exec"]);
  const made = await client.callTool({
    name: "exec",
    arguments: { op: "notes.note.create", args: { text: "hi" } },
  });
  expect(node, "exec", made.content[0], { type: "text", text: 'notes.note.create: {"text":"hi"}' });
  await client.close();
}

/** A config in a folder without packages finds those of the program, as with a global installation. */
async function tryElsewhere(node: string, home: string): Promise<void> {
  const other = mkdtempSync(join(tmpdir(), "keyhole-elsewhere-"));
  const config = join(other, "keyhole.config.ts");
  writeFileSync(config, CONFIG);
  const { status, stdout, stderr } = await run(node, home, ["ask", "write down a note", "--config", config]);
  rmSync(other, { recursive: true });
  expect(node, "a config elsewhere", [status, stdout.split("(")[0], stderr], [0, "1. notes.note.create", ""]);
}

/** Takes the steps of a person with an MCP server: let it start, approve its tools, find one, call it, run a script. */
async function tryServer(node: string, home: string): Promise<void> {
  const keyhole = (...args: string[]) => run(node, home, [...args, "--config", "mcp.json"]);
  for (const what of ["its program", "its tools"]) {
    const { stdout: listed } = await keyhole("approve");
    const hash = /^Hash: (\w+)$/m.exec(listed)?.[1] ?? "";
    const { status, stderr } = await keyhole("approve", "--hash", hash);
    expect(node, `approve ${what}`, [status, stderr], [0, ""]);
  }
  const asked = await keyhole("ask", "repeat what I say");
  expect(node, "ask", [asked.status, asked.stdout.includes("every.echo")], [0, true]);
  const called = await keyhole("call", "every.echo", "message=hi", "--allow-write");
  expect(node, "exec", [called.status, called.stdout.includes("Echo: hi")], [0, true]);
  const code = 'return await tools.every.echo({ message: "hi" })';
  const scripted = await keyhole("script", code, "--allow-write");
  expect(node, "script", [scripted.status, scripted.stdout.includes("Echo: hi")], [0, true]);
}

/** A client's config is as it was, byte for byte, after it was connected and the connection undone. */
async function tryClient(node: string, home: string): Promise<void> {
  const file = join(home, ".cursor/mcp.json");
  mkdirSync(dirname(file));
  writeFileSync(file, CLIENT);
  const connected = await run(node, home, ["connect", "cursor", "--yes"]);
  const isMoved = readFileSync(file, "utf8").includes('"keyhole"');
  expect(node, "connect", [connected.status, isMoved], [0, true]);
  const undone = await run(node, home, ["connect", "cursor", "--undo", "--yes"]);
  expect(node, "connect --undo", [undone.status, readFileSync(file, "utf8")], [0, CLIENT]);
}

/** The agent needs nothing that the package does not bring. */
async function tryAgent(node: string, home: string): Promise<void> {
  const model = await serveScriptedModel(() => ({ text: "Here I am." }));
  const env = { OPENAI_API_KEY: "not-a-key", OPENAI_BASE_URL: `${model.url}/v1` };
  const args = ["chat", "-p", "Are you there?", "--config", "keyhole.config.ts"];
  const { status, stdout, stderr } = await run(node, home, args, env);
  await model.close();
  expect(node, "chat", [status, stdout, stderr], [0, "Here I am.\n", ""]);
}

/** An old Node gets one sentence: the first file has to be readable for it. */
async function tryOld(node: string, version: string): Promise<void> {
  const { status, stderr } = await run(node, folder, ["serve"]);
  const sentence = `Keyhole needs Node 22.15 or newer, and this is Node ${version}. Install a newer one and try again.\n`;
  expect(node, "start", [status, stderr], [1, sentence]);
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(node: string, home: string, args: readonly string[], env = {}): Promise<Ended> {
  const child = spawn(node, [program, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: home, ...env },
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [stdout, stderr] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join("")),
  );
  return { status: await ended, stdout: stdout!, stderr: stderr! };
}

function expect(node: string, what: string, actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Error(`${node}, ${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}
