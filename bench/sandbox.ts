// The cost of the sandbox of a server: the same server is started as it is and isolated, in turns in one run. `start` is
// the time to its first answer, `memory` the resident memory of all its processes that no other process shares.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isolate, isolationFault } from "../src/sources/isolation/isolation.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { percentile } from "./percentile.ts";

const ROUNDS = 15;
const CHAOS = resolve("src/testing/chaos-upstream.ts");
const HELLO = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };

interface Sample {
  readonly startMs: number;
  readonly ownMb: number;
}

export const benchmark: Benchmark = async () => {
  const fault = await isolationFault();
  const cwd = mkdtempSync(join(tmpdir(), "keyhole-bench-"));
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };
  const plain = { command: process.execPath, args: [CHAOS], env, cwd };
  const rounds: (readonly [plain: Sample, isolated: Sample])[] = [];
  const limits = { open: [CHAOS], hidden: [join(env.HOME, ".keyhole")], network: "all" as const };
  for (let round = 0; round < ROUNDS && fault === undefined; round++) {
    const first = await measure(plain, async () => plain);
    const second = await measure(plain, async () => (await isolate(plain, limits)) ?? plain);
    if (round > 0) rounds.push([first, second]);
  }
  rmSync(cwd, { recursive: true, force: true });
  const row = (
    system: string,
    metric: string,
    unit: string,
    figure: (round: (typeof rounds)[number]) => number,
  ): Row => ({
    bench: "sandbox",
    case: "chaos server",
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
  ];
};

type Started = Pick<Awaited<ReturnType<typeof isolate>> & object, "command" | "args">;

async function measure(
  { env, cwd }: { readonly env: Record<string, string>; readonly cwd: string },
  prepare: () => Promise<Started>,
): Promise<Sample> {
  const begin = performance.now();
  const { command, args } = await prepare();
  const child = spawn(command, [...args], { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
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
    for (const task of readdirSync(`/proc/${at}/task`))
      members.push(
        ...readFileSync(`/proc/${at}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
      );
  return members;
}

function ownBytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kilobytes = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+)/gm)].map(([, count]) =>
    Number(count),
  );
  return kilobytes.reduce((sum, count) => sum + count, 0) * 1_024;
}
