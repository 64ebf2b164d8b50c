// Time to readiness: from the start of the process to the answer to the first `tools/list` over stdio. `bare` is a
// server made with the SDK alone, with one tool; `keyhole` is the built program with 50 upstreams whose listings are
// cached; `relay` is `keyhole serve` while a daemon runs. The systems take turns in one run, and the memory of each
// is measured after its answer, beside that of a bare Node. `help` compares `keyhole --help` with `node -e 0`, from start to exit.
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

const ROUNDS = 9;
const UPSTREAMS = 50;
const MAIN = resolve("dist/cli/main.js");
const SYSTEMS = ["bare", "keyhole", "relay"] as const;
const SETTLE_MS = 200;
const ECHO = resolve(import.meta.dirname, "overhead/echo-server.ts");

export const benchmark: Benchmark = async () => {
  const folder = await mkdtemp(resolve("node_modules/.keyhole-start-"));
  try {
    const config = await prepare(folder);
    const serve = (...flags: string[]) => [MAIN, "serve", ...flags, "--trust", "--config", config];
    const programs = {
      bare: [await asBuilt(ECHO, folder)],
      keyhole: serve("--no-daemon"),
      relay: serve(),
    };
    const measured: Measured[] = [];
    // The first round warms the disk cache and the cache of compiled code, and starts the daemon.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const system of SYSTEMS) {
        const one = await timeToList(programs[system], folder);
        if (round > 0) measured.push({ system, ...one });
      }
    }
    return [...toRows(measured), ...helpRows(folder)];
  } finally {
    spawnSync(process.execPath, [MAIN, "daemon", "stop"], { env: environmentOf(folder) });
    await rm(folder, { recursive: true, force: true });
  }
};

interface Measured {
  readonly system: (typeof SYSTEMS)[number];
  readonly ms: number;
  readonly rssMb: number;
  /** Memory that is not of the program's file, which all processes share. */
  readonly ownMb: number;
}

function toRows(measured: readonly Measured[]): Row[] {
  const median = (system: string, field: "ms" | "rssMb" | "ownMb") =>
    percentile(
      measured.filter((one) => one.system === system).map((one) => one[field]),
      50,
    );
  const row = (system: string, metric: string, value: number, unit: string) => ({
    bench: "start",
    case: system,
    system,
    metric,
    value,
    unit,
  });
  const [rss = 0, own = 0] = memoryOfNode();
  return [
    ...SYSTEMS.flatMap((system) => [
      row(system, "ready_ms", median(system, "ms"), "ms"),
      row(system, "ratio", median(system, "ms") / median("bare", "ms"), "x"),
      row(system, "rss_mb", median(system, "rssMb"), "MB"),
      row(system, "own_mb", median(system, "ownMb"), "MB"),
    ]),
    row("node", "rss_mb", rss, "MB"),
    row("node", "own_mb", own, "MB"),
  ];
}

/** The memory of a Node that runs nothing. */
function memoryOfNode(): number[] {
  const script = `console.log(require("node:fs").readFileSync("/proc/self/status", "utf8"))`;
  return memoryIn(spawnSync(process.execPath, ["-e", script], { encoding: "utf8" }).stdout);
}

/** Megabytes in all, and without those of files. Nothing where the system has no such list. */
function memoryIn(status: string): number[] {
  return ["VmRSS", "RssAnon"].map(
    (field) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? Number.NaN) / 1_024,
  );
}

function environmentOf(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, XDG_CACHE_HOME: folder, KEYHOLE_STATE: join(folder, "state") };
}

/** Measures `--help`. `most_ms` is the target: 1.5 times the start of bare Node, plus 50 ms. */
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
  return [row("node", "ms", node), row("keyhole", "ms", keyhole), row("keyhole", "most_ms", node * 1.5 + 50)];
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

/** Sends one request without the SDK's client, which would start a server twice to learn its revision. */
async function timeToList(args: readonly string[], folder: string): Promise<Omit<Measured, "system">> {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "ignore"],
    env: environmentOf(folder),
  });
  const request = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: REQUEST_META } };
  child.stdin.write(`${JSON.stringify(request)}\n`);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const ms = performance.now() - started;
  await setTimeout(SETTLE_MS);
  const [rssMb = 0, ownMb = 0] = memoryIn(
    await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => ""),
  );
  child.stdin.end();
  await once(child, "exit");
  if (!(JSON.parse(line).result?.tools?.length > 0)) throw new Error(`No tools were listed: ${line}`);
  return { ms, rssMb, ownMb };
}
