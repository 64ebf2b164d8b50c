// Large catalogs behind the built program, over stdio: the time from the start of the process to the first list of
// tools, and to the first `ask` that finds a tool of the last server; and the memory after it. `cold` lists every
// server; `warm` uses the listings and the index of the run before. `--docs` is the largest number of tools, and
// `--docs=100000` adds the largest case, whose line of the system `bar` has the most allowed.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import type { Benchmark, Row } from "./benchmark.ts";
import { REQUEST_META } from "./request-meta.ts";

/** Tools, and the upstreams that they are spread over. */
const SIZES: readonly (readonly [tools: number, upstreams: number])[] = [
  [100, 10],
  [1_000, 10],
  [1_000, 50],
  [5_000, 10],
  [5_000, 200],
  [20_000, 10],
  [100_000, 20],
];
const LARGEST = 20_000;
/** The most that the largest case may take when it is warm. */
const BAR_TOOLS = 100_000;
const BARS = { list_ms: 1_000, ask_ms: 2_000, rss_mb: 500 };
const SERVER = resolve(import.meta.dirname, "catalog/many-tools-server.ts");
const AGAIN_MS = 50;

interface Case {
  readonly tools: number;
  readonly upstreams: number;
  readonly config: string;
  readonly home: string;
}

export const benchmark: Benchmark = async ({ docs = LARGEST }) => {
  const built = spawnSync(process.execPath, ["scripts/build.ts"], { stdio: ["ignore", "ignore", "inherit"] });
  if (built.status !== 0) throw new Error("The package cannot be built.");
  const rows: Row[] = [];
  for (const [tools, upstreams] of SIZES.filter(([size]) => size <= docs)) {
    const home = await mkdtemp(resolve("node_modules/.keyhole-catalog-"));
    try {
      const config = await writeConfig(home, tools, upstreams);
      for (const system of ["cold", "warm"])
        rows.push(...(await measure({ tools, upstreams, config, home }, system)));
      if (tools >= BAR_TOOLS)
        for (const [metric, value] of Object.entries(BARS))
          rows.push({
            ...rows.at(-1)!,
            system: "bar",
            metric,
            value,
            unit: metric.endsWith("_mb") ? "MB" : "ms",
          });
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }
  return rows;
};

async function writeConfig(home: string, tools: number, upstreams: number): Promise<string> {
  const each = String(Math.ceil(tools / upstreams));
  const servers = Array.from({ length: upstreams }, (_, index) => [
    `server${index}`,
    { command: process.execPath, args: [SERVER, `server${index}`, each] },
  ]);
  const path = join(home, "mcp.json");
  await writeFile(path, JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  return path;
}

async function measure({ tools, upstreams, config, home }: Case, system: string): Promise<Row[]> {
  const started = performance.now();
  const since = () => performance.now() - started;
  const child = spawn(
    process.execPath,
    [resolve("dist/bin/keyhole.cjs"), "serve", "--no-daemon", "--trust", "--config", config],
    {
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, HOME: home, XDG_CACHE_HOME: join(home, "cache") },
    },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  async function request(method: string, params: object): Promise<string> {
    const message = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: REQUEST_META } };
    child.stdin.write(`${JSON.stringify(message)}\n`);
    return String((await lines.next()).value);
  }
  try {
    const listed = await request("tools/list", {});
    if (!listed.includes('"ask"')) throw new Error(`No tools were listed: ${listed}`);
    const listMs = since();
    const wanted = `server${upstreams - 1}://tools/`;
    const need = { query: `read the ticket of an office in server${upstreams - 1}` };
    const ask = () => request("tools/call", { name: "ask", arguments: need });
    let answer = await ask();
    const askMs = since();
    const askUntil = async (isMet: () => boolean) => {
      while (!isMet()) {
        await setTimeout(AGAIN_MS);
        answer = await ask();
      }
    };
    await askUntil(() => answer.includes(wanted));
    const foundMs = since();
    // A server that has not been listed would start cold in the next run.
    await askUntil(() => !answer.includes("still starting"));
    const row = (metric: string, value: number, unit: string): Row => {
      const name = `${tools.toLocaleString("en")} tools, ${upstreams} upstreams`;
      return { bench: "catalog", case: name, system, metric, value, unit };
    };
    return [
      row("list_ms", listMs, "ms"),
      row("ask_ms", askMs, "ms"),
      row("found_ms", foundMs, "ms"),
      row("rss_mb", megabytesOf(child.pid ?? 0), "MB"),
    ];
  } finally {
    child.stdin.end();
    await once(child, "exit");
  }
}

function megabytesOf(pid: number): number {
  const [, kilobytes = "NaN"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}
