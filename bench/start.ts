// Time to readiness: from the start of the process to the answer to the first `tools/list` over stdio, and the memory
// after it. `bare` is a server made with the SDK alone, with one tool; `keyhole` is the built program with 50 upstreams
// whose listings are cached; `empty` has no upstream, and is asked once before its memory is measured; `relay` is
// `keyhole serve` while a daemon runs, `first` is the one that starts the daemon, and `daemon` is that process without
// upstreams after an ask. The systems take turns in one run, beside a bare Node that waits for its input. `least` is
// that bare Node with flags that could make it smaller: no program of Node takes less. `help` compares
// `keyhole --help` with `node -e 0`, from start to exit. Lines of the system `bar` have the most allowed.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { createGateway } from "keyhole";
import { fromMcpConfig } from "keyhole/sources";
import type { Benchmark, Row } from "./benchmark.ts";
import { percentile } from "./percentile.ts";
import { REQUEST_META } from "./request-meta.ts";

const ROUNDS = 5;
const UPSTREAMS = 50;
const MAIN = resolve("dist/bin/keyhole.cjs");
const SYSTEMS = ["node", "bare", "keyhole", "empty", "relay"] as const;
/** The most that a system may take. */
const BARS: readonly (readonly [system: string, metric: string, value: number, unit: string])[] = [
  ["keyhole", "ratio", 1.5, "x"],
  ["empty", "rss_mb", 80, "MB"],
  ["daemon", "rss_mb", 80, "MB"],
  ["relay", "ready_ms", 100, "ms"],
  ["relay", "rss_mb", 40, "MB"],
];
const SETTLE_MS = 200;
const WAITS = ["-e", "process.stdin.resume()"];
/** Flags that could make Node itself smaller. */
const SMALLER = [
  "--jitless",
  "--lite-mode",
  "--single-threaded",
  "--v8-pool-size=0",
  "--max-semi-space-size=1",
  "--no-opt --no-maglev --no-sparkplug",
  "--jitless --single-threaded --v8-pool-size=0 --max-semi-space-size=1",
];
const ECHO = resolve(import.meta.dirname, "overhead/echo-server.ts");

export const benchmark: Benchmark = async () => {
  const folder = await mkdtemp(resolve("node_modules/.keyhole-start-"));
  try {
    const config = await prepare(folder);
    const none = join(folder, "none.json");
    await writeFile(none, JSON.stringify({ mcpServers: {} }));
    const serve = (served: string, ...flags: string[]) => [MAIN, "serve", ...flags, "--config", served];
    const programs = {
      node: WAITS,
      bare: [await asBuilt(ECHO, folder)],
      keyhole: serve(config, "--no-daemon", "--trust"),
      empty: serve(none, "--no-daemon"),
      relay: serve(config, "--trust"),
    };
    const measured: Measured[] = [];
    // The first round warms the disk cache and the cache of compiled code.
    for (let round = 0; round <= ROUNDS; round++) {
      stopDaemon(folder);
      const first = { system: "first" as const, ...(await timeToList(serve(none), folder, { asks: true })) };
      const daemon = { ...first, system: "daemon" as const, ...(await memoryOf(daemonOf(folder))) };
      if (round > 0) measured.push(first, daemon);
      for (const system of SYSTEMS) {
        const how = { asks: system === "empty", isServer: system !== "node" };
        // The config of 50 upstreams is opened before it counts.
        if (system === "relay") await timeToList(programs[system], folder, how);
        const one = await timeToList(programs[system], folder, how);
        if (round > 0) measured.push({ system, ...one });
      }
    }
    return [...toRows(measured), ...(await leastRows(folder)), ...helpRows(folder)];
  } finally {
    stopDaemon(folder);
    await rm(folder, { recursive: true, force: true });
  }
};

function stopDaemon(folder: string): void {
  spawnSync(process.execPath, [MAIN, "serve", "--stop"], { env: environmentOf(folder) });
}

/** The process id of the daemon. */
function daemonOf(folder: string): number {
  const args = [MAIN, "servers", "--json"];
  const { stdout } = spawnSync(process.execPath, args, { env: environmentOf(folder), encoding: "utf8" });
  return JSON.parse(stdout).daemon.pid;
}

interface Measured {
  readonly system: (typeof SYSTEMS)[number] | "first" | "daemon";
  readonly ms: number;
  readonly rssMb: number;
  /** Memory that is not of the program's file, which all processes share. */
  readonly ownMb: number;
  /** With the share of this process in the memory that it shares. */
  readonly pssMb: number;
}

function toRows(measured: readonly Measured[]): Row[] {
  const median = (system: string, field: Exclude<keyof Measured, "system">) =>
    percentile(
      measured.filter((one) => one.system === system).map((one) => one[field]),
      50,
    );
  const row = (name: string, system: string, metric: string, value: number, unit: string) => ({
    bench: "start",
    case: name,
    system,
    metric,
    value,
    unit,
  });
  const rows = [...SYSTEMS, "first", "daemon"].flatMap((system) => [
    ...(system === "node" || system === "daemon"
      ? []
      : [
          row(system, system, "ready_ms", median(system, "ms"), "ms"),
          row(system, system, "ratio", median(system, "ms") / median("bare", "ms"), "x"),
        ]),
    row(system, system, "rss_mb", median(system, "rssMb"), "MB"),
    row(system, system, "own_mb", median(system, "ownMb"), "MB"),
    row(system, system, "pss_mb", median(system, "pssMb"), "MB"),
    row(system, system, "over_node_mb", median(system, "rssMb") - median("node", "rssMb"), "MB"),
  ]);
  return [...rows, ...BARS.map(([name, metric, value, unit]) => row(name, "bar", metric, value, unit))];
}

/** Nothing where the system has no such lists. */
async function memoryOf(pid: number | undefined): Promise<Pick<Measured, "rssMb" | "ownMb" | "pssMb">> {
  const [status, sums] = await Promise.all(
    ["status", "smaps_rollup"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
  );
  const megabytes = (text: string | undefined, field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text ?? "")?.[1] ?? Number.NaN) / 1_024;
  return {
    rssMb: megabytes(status, "VmRSS"),
    ownMb: megabytes(status, "RssAnon"),
    pssMb: megabytes(sums, "Pss"),
  };
}

function environmentOf(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, XDG_CACHE_HOME: folder, KEYHOLE_STATE: join(folder, "state") };
}

async function leastRows(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const flags of SMALLER) {
    const { rssMb, ownMb } = await timeToList([...flags.split(" "), ...WAITS], folder, { isServer: false });
    const row = { bench: "start", case: "least", system: flags, unit: "MB" };
    rows.push({ ...row, metric: "rss_mb", value: rssMb }, { ...row, metric: "own_mb", value: ownMb });
  }
  return rows;
}

/** Measures `--help`. The bar is 1.5 times the start of bare Node, plus 50 ms. */
function helpRows(cache: string): Row[] {
  const programs = { node: ["-e", "0"], keyhole: [MAIN, "--help"] };
  const times = { node: [] as number[], keyhole: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of ["node", "keyhole"] as const) {
      const started = performance.now();
      spawnSync(process.execPath, programs[name], { env: { ...process.env, XDG_CACHE_HOME: cache } });
      if (round > 0) times[name].push(performance.now() - started);
    }
  }
  const [node, keyhole] = [percentile(times.node, 50), percentile(times.keyhole, 50)];
  const row = (system: string, metric: string, value: number) => ({
    bench: "start",
    case: "help",
    system,
    metric,
    value,
    unit: "ms",
  });
  return [row("node", "ms", node), row("keyhole", "ms", keyhole), row("bar", "ms", node * 1.5 + 50)];
}

/** Strips the types of a file, because the built program is JavaScript too. */
async function asBuilt(file: string, folder: string): Promise<string> {
  const path = join(folder, "bare.mjs");
  await writeFile(path, stripTypeScriptTypes(await readFile(file, "utf8")));
  return path;
}

/** Builds the program and caches the listings of all upstreams. Returns the config to serve. */
async function prepare(folder: string): Promise<string> {
  const built = spawnSync(process.execPath, ["scripts/build.ts"], { stdio: ["ignore", "ignore", "inherit"] });
  if (built.status !== 0) throw new Error("The package cannot be built.");
  const servers = Array.from({ length: UPSTREAMS }, (_, index) => [
    `server${index}`,
    { command: process.execPath, args: [ECHO, "stdio", String(index)] },
  ]);
  const json = JSON.stringify({ mcpServers: Object.fromEntries(servers) });
  // The program looks for listings here if this folder is the cache folder of the user.
  const options = { cacheDirectory: join(folder, "keyhole", "listings"), trusted: true, cwd: folder };
  // Lists a few at a time, because each is a process.
  const sources = fromMcpConfig(json, options);
  for (let start = 0; start < sources.length; start += 5) {
    const gateway = createGateway({ domains: [], sources: sources.slice(start, start + 5) });
    await gateway.ready();
    await gateway.close();
  }
  const config = join(folder, "mcp.json");
  await writeFile(config, json);
  return config;
}

interface Way {
  /** Asks once before the memory is measured. */
  readonly asks?: boolean;
  /** A program that serves nothing is measured without a request. */
  readonly isServer?: boolean;
}

/** Sends requests without the SDK's client, which would start a server twice to learn its revision. */
async function timeToList(
  args: readonly string[],
  folder: string,
  { asks = false, isServer = true }: Way = {},
): Promise<Omit<Measured, "system">> {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "ignore"],
    env: environmentOf(folder),
  });
  const lines = createInterface({ input: child.stdout });
  const request = async (method: string, params: object) => {
    const message = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: REQUEST_META } };
    child.stdin.write(`${JSON.stringify(message)}\n`);
    return String((await once(lines, "line"))[0]);
  };
  const listed = isServer ? await request("tools/list", {}) : undefined;
  const ms = performance.now() - started;
  if (listed && !(JSON.parse(listed).result?.tools?.length > 0))
    throw new Error(`No tools were listed: ${listed}`);
  if (asks) await request("tools/call", { name: "ask", arguments: { query: "read a file" } });
  await setTimeout(SETTLE_MS);
  const memory = await memoryOf(child.pid);
  child.stdin.end();
  await once(child, "exit");
  return { ms, ...memory };
}
