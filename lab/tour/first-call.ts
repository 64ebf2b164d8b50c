// node lab/tour/first-call.ts [RUNS]: how long the first call of the first session after `approve` takes, with five
// servers, from the start of `keyhole serve` to the answer. Prints each run and the median.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { installTool } from "../../scripts/tool.ts";

const PROGRAM = resolve("dist/bin/keyhole.cjs");
const runs = Number(process.argv[2] ?? 5);
const times: number[] = [];
for (let run = 0; run < runs; run++) times.push(await firstCall());
const median = times.toSorted((one, other) => one - other)[Math.floor(runs / 2)]!;
console.log(`first call after approve, five servers: ${times.join(", ")} ms, median ${median} ms`);

async function firstCall(): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), "kh-first-"));
  const env = { HOME: home, PATH: process.env.PATH ?? "" };
  const keyhole = (...args: string[]) =>
    execFileSync(process.execPath, [PROGRAM, ...args], { cwd: home, env, encoding: "utf8", stdio: "pipe" });
  try {
    mkdirSync(join(home, ".keyhole"));
    writeFileSync(join(home, ".keyhole/settings.json"), JSON.stringify({ mcpServers: servers(home) }));
    for (let step = 0; step < 2; step++) approve(keyhole);
    return await timed(env, home);
  } finally {
    keyhole("serve", "--stop");
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Programs first, then tools. `approve` exits with 1 while something waits. */
function approve(keyhole: (...args: string[]) => string): void {
  let shown = "";
  try {
    shown = keyhole("approve");
  } catch (error) {
    shown = (error as { stdout: string }).stdout;
  }
  const hash = /Hash: (\w+)/.exec(shown)?.[1];
  if (hash === undefined) return;
  try {
    keyhole("approve", "--hash", hash);
  } catch {
    // The tools of the programs wait for the next step.
  }
}

async function timed(env: Record<string, string>, home: string): Promise<number> {
  const started = performance.now();
  const client = new Client({ name: "first-call", version: "1" });
  const args = [PROGRAM, "serve", "--allow-write"];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, cwd: home, stderr: "ignore" }),
  );
  const call = { route: "everything.echo", params: { message: "first" } };
  const { content } = await client.callTool({ name: "get", arguments: { routes: [call] } });
  const ms = Math.round(performance.now() - started);
  await client.close();
  const [text] = content;
  if (text?.type !== "text" || !text.text.includes("Echo: first")) throw new Error(JSON.stringify(content));
  return ms;
}

function servers(home: string): object {
  const own = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [resolve("node_modules/.bin", `mcp-server-${name}`), ...args],
  });
  const github = join(installTool("servers"), "node_modules/.bin/mcp-server-github");
  return {
    everything: own("everything"),
    filesystem: own("filesystem", home),
    memory: own("memory"),
    thinking: own("sequential-thinking"),
    github: { command: process.execPath, args: [github] },
  };
}
