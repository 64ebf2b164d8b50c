// The cost of the sandbox of a server: the same server is started as it is, isolated, and isolated with a list of hosts,
// in turns in one run. `start` is the time to its first answer, `memory` the resident memory of all its processes that
// no other process shares. With a list of hosts, a listening socket is opened in the sandbox before the server starts, and
// a server on Node loads Node's client of a proxy at once. What that part costs is measured by the variables alone,
// without a sandbox. A server that fetches loads most of it anyway: the last case answers after its first request.
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { type IsolatedCommand, isolate, isolationFault } from "../src/sources/isolation/isolation.ts";
import type { Isolation } from "../src/sources/isolation/mounts.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { percentile } from "./percentile.ts";

const ROUNDS = 11;
const OFFICIAL = ["server-filesystem", "server-memory", "server-everything"];
const CHAOS = resolve("src/testing/chaos-upstream.ts");
const FETCHES = `process.stdin.once("data", async () => {
  await fetch(process.argv[1]).then((answer) => answer.text(), String);
  console.log("{}");
})`;
const HELLO = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  },
};

type Child = ChildProcessByStdio<Writable, Readable, null>;

interface Sample {
  readonly startMs: number;
  readonly ownMb: number;
}

export const benchmark: Benchmark = async () => {
  const fault = await isolationFault();
  const cwd = mkdtempSync(join(tmpdir(), "keyhole-bench-"));
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };
  const { resolve: find } = createRequire(import.meta.url);
  const servers = OFFICIAL.map((name) =>
    join(dirname(find(`@modelcontextprotocol/${name}/package.json`)), "dist/index.js"),
  );
  const web = createServer((_, answer) => answer.end("fetched")).listen(0, "127.0.0.2");
  await once(web, "listening");
  const host = `127.0.0.2:${(web.address() as AddressInfo).port}`;
  const cases: readonly Case[] = [
    { name: "chaos server", args: [CHAOS, cwd] },
    ...servers.map((file) => ({ name: basename(dirname(dirname(file))), args: [file, cwd] })),
    { name: "server that fetches", args: ["-e", FETCHES, `http://${host}`] },
  ];
  const rows: Row[] = [];
  for (const one of cases) rows.push(...(await measureServer(one, { env, cwd, host }, fault)));
  web.close();
  rmSync(cwd, { recursive: true, force: true });
  return rows;
};

interface Case {
  readonly name: string;
  readonly args: readonly string[];
}

async function measureServer(
  { name, args }: Case,
  { env, cwd, host }: { readonly env: Record<string, string>; readonly cwd: string; readonly host: string },
  fault: string | undefined,
): Promise<Row[]> {
  const plain = { command: process.execPath, args, env, cwd };
  const rounds: (readonly [direct: Sample, isolated: Sample, listed: Sample, proxied: Sample])[] = [];
  const limits = { open: [args[0]!, cwd], hidden: [join(env.HOME!, ".keyhole")] };
  const within = async (network: Isolation["network"]) =>
    (await isolate(plain, { ...limits, network })) ?? plain;
  for (let round = 0; round < ROUNDS && fault === undefined; round++) {
    const direct = await measure(plain, async () => plain);
    const isolated = await measure(plain, () => within("none"));
    const listed = await measure(plain, () => within([host]));
    // The port of the proxy is in the sandbox: here a request finds nobody, and the code that asks is loaded.
    const { env: variables } = await within([host]);
    const proxied = await measure(plain, async () => ({ ...plain, env: variables }));
    if (round > 0) rounds.push([direct, isolated, listed, proxied]);
  }
  const row = (
    system: string,
    metric: string,
    unit: string,
    figure: (round: (typeof rounds)[number]) => number,
  ): Row => ({
    bench: "sandbox",
    case: name,
    system,
    metric,
    value: fault === undefined ? percentile(rounds.map(figure), 50) : Number.NaN,
    unit,
    ...(fault !== undefined && { note: fault }),
  });
  return [
    row("direct", "start", "ms", ([direct]) => direct.startMs),
    row("direct", "memory", "MB", ([direct]) => direct.ownMb),
    row("sandbox", "start", "ms", ([, isolated]) => isolated.startMs),
    row("sandbox", "memory", "MB", ([, isolated]) => isolated.ownMb),
    row("added", "start", "ms", ([direct, isolated]) => isolated.startMs - direct.startMs),
    row("added", "memory", "MB", ([direct, isolated]) => isolated.ownMb - direct.ownMb),
    row("Node's proxy alone", "start", "ms", ([direct, , , proxied]) => proxied.startMs - direct.startMs),
    row("Node's proxy alone", "memory", "MB", ([direct, , , proxied]) => proxied.ownMb - direct.ownMb),
    row("added, hosts listed", "start", "ms", ([direct, , listed]) => listed.startMs - direct.startMs),
    row("added, hosts listed", "memory", "MB", ([direct, , listed]) => listed.ownMb - direct.ownMb),
  ];
}

type Started = Pick<IsolatedCommand, "command" | "args"> & Partial<IsolatedCommand>;

async function measure(
  { env, cwd }: { readonly env: Record<string, string>; readonly cwd: string },
  prepare: () => Promise<Started>,
): Promise<Sample> {
  const begin = performance.now();
  const { command, args, env: more, channels = [], attach } = await prepare();
  const stdio = ["pipe", "pipe", "ignore", ...channels] as const;
  const child = spawn(command, [...args], { env: { ...env, ...more }, cwd, stdio: [...stdio] }) as Child;
  attach?.(child);
  child.stdin.write(`${JSON.stringify(HELLO)}\n`);
  await once(child.stdout, "data");
  const startMs = performance.now() - begin;
  const ownMb = below(child).reduce((sum, pid) => sum + ownBytes(pid), 0) / 1e6;
  child.stdin.end();
  await once(child, "exit");
  return { startMs, ownMb };
}

/** A process and all that it has started. */
function below({ pid }: ChildProcess): number[] {
  const members = [pid!];
  for (const at of members)
    for (const task of whileThere(() => readdirSync(`/proc/${at}/task`)) ?? []) {
      const text = whileThere(() => readFileSync(`/proc/${at}/task/${task}/children`, "utf8")) ?? "";
      members.push(...text.split(" ").filter(Boolean).map(Number));
    }
  return members;
}

function ownBytes(pid: number): number {
  const text = whileThere(() => readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? "";
  const kilobytes = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+)/gm)].map(([, count]) =>
    Number(count),
  );
  return kilobytes.reduce((sum, count) => sum + count, 0) * 1_024;
}

/** Reads what is known of a process or thread, which may end at any time. */
function whileThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
