// Runs one benchmark on another revision and on this tree, in turns, and compares the medians. Each runs its own
// benchmark with its own dependencies; only figures that both print are compared.
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Row } from "./benchmark.ts";
import { cacheFolder } from "./install-packages.ts";
import { percentile } from "./percentile.ts";

const ROUNDS = 3;
/** A run that takes longer is stopped, and the benchmark fails. */
const MOST_MS = 1_200_000;
const HERE = resolve(import.meta.dirname, "..");

/** A line for each figure: its median before and after, and how they compare. */
export function compareWith(revision: string, name: string, args: readonly string[]): Row[] {
  const there = checkOut(revision);
  for (const folder of [there, HERE]) build(folder);
  const before: Row[] = [];
  const after: Row[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    console.error(`Round ${round} of ${ROUNDS} …`);
    before.push(...measure(there, name, args));
    after.push(...measure(HERE, name, args));
  }
  return [...Map.groupBy(after, keyOf)].flatMap(([key, figures]) => {
    const earlier = before.filter((row) => keyOf(row) === key);
    const { case: at, system, metric, unit, bench } = figures[0]!;
    const [then, now] = [median(earlier), median(figures)];
    const row = { bench, case: `${at}, ${system}`, system: `${metric} (${unit})` };
    return [
      { ...row, metric: "before", value: then, unit: "median" },
      { ...row, metric: "after", value: now, unit: "median" },
      { ...row, metric: "after / before", value: now / then, unit: "x" },
    ];
  });
}

const keyOf = (row: Row) => JSON.stringify([row.case, row.system, row.metric]);

/** NaN if the other revision has no such figure. */
function median(rows: readonly Row[]): number {
  return percentile(
    rows.map((row) => row.value),
    50,
  );
}

/** The revision in a folder of its own, installed once. */
function checkOut(revision: string): string {
  const commit = run("git", ["rev-parse", "--verify", `${revision}^{commit}`], HERE).trim();
  const folder = join(cacheFolder("revisions"), commit);
  const done = join(folder, "node_modules/.installed");
  if (existsSync(done)) return folder;
  if (!existsSync(folder)) run("git", ["worktree", "add", "--detach", folder, commit], HERE);
  run("npm", ["ci", "--no-audit", "--no-fund"], folder);
  writeFileSync(done, "");
  return folder;
}

function build(folder: string): void {
  run("npm", ["run", "build"], folder);
}

function measure(folder: string, name: string, args: readonly string[]): Row[] {
  return JSON.parse(run("npm", ["run", "--silent", "bench", "--", name, "--json", ...args], folder));
}

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    env: ownEnvironment(),
    timeout: MOST_MS,
    maxBuffer: 1 << 28,
    shell: process.platform === "win32",
  });
  if (status === 0) return stdout;
  throw new Error(
    `${command} ${args.join(" ")} failed in ${cwd}: ${error?.message ?? stderr.trim().slice(-2000)}`,
  );
}

/** Without npm's variables and without this tree's programs, so that each revision runs on its own Node. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith("npm_"));
  const programs = join(HERE, "node_modules", ".bin");
  const separator = process.platform === "win32" ? ";" : ":";
  const path = (process.env.PATH ?? "").split(separator).filter((part) => part !== programs);
  return { ...Object.fromEntries(own), PATH: path.join(separator) };
}
