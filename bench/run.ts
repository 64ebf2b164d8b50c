// npm run bench -- NAME [options]: runs one benchmark, prints a table, or with --json one array of rows. `--against
// REVISION` runs it on that revision too, in turns.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { compareWith } from "./against.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { toTable } from "./table.ts";

const BENCHMARKS: Readonly<Record<string, () => Promise<{ benchmark: Benchmark }>>> = {
  lanes: () => import("./lanes.ts"),
  names: () => import("./names.ts"),
  "first-token": () => import("./first-token.ts"),
  learning: () => import("./learning.ts"),
  scale: () => import("./scale.ts"),
  search: () => import("./search.ts"),
  openapi: () => import("./openapi.ts"),
  tokens: () => import("./tokens.ts"),
  overhead: () => import("./overhead.ts"),
  start: () => import("./start.ts"),
  catalog: () => import("./catalog.ts"),
  knowledge: () => import("./knowledge.ts"),
  package: () => import("./package.ts"),
  peers: () => import("./peers.ts"),
  console: () => import("./console.ts"),
  poison: () => import("./poison.ts"),
  faults: () => import("./faults.ts"),
  soak: () => import("./soak.ts"),
  sandbox: () => import("./sandbox.ts"),
  sessions: () => import("./sessions.ts"),
  skills: () => import("./skills.ts"),
  run: () => import("./run-plans.ts"),
  conversation: () => import("./conversation.ts"),
  stream: () => import("./stream.ts"),
  team: () => import("./team.ts"),
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    against: { type: "string" },
    data: { type: "string" },
    docs: { type: "string" },
    minutes: { type: "string" },
    systems: { type: "string" },
  },
});
const [name = ""] = positionals;
const toNumber = (text: string | undefined) => (text === undefined ? undefined : Number(text));
const [docs, minutes] = [toNumber(values.docs), toNumber(values.minutes)];
if (!Object.hasOwn(BENCHMARKS, name) || Number.isNaN(docs) || Number.isNaN(minutes)) {
  console.error(
    `Usage: npm run bench -- NAME [--json] [--data PATH] [--docs N] [--minutes N] [--systems A,B] [--against REVISION]\nNames: ${Object.keys(BENCHMARKS).join(", ")}`,
  );
  process.exit(2);
}

const { json, against, ...forBenchmark } = values;
const rows = against === undefined ? await measure() : compareWith(against, name, toArguments(forBenchmark));
console.log(json ? JSON.stringify(rows) : toTable(rows));

async function measure(): Promise<Row[]> {
  const { benchmark } = await BENCHMARKS[name]!();
  return benchmark({ data: values.data, docs, minutes, systems: values.systems?.split(",") });
}

/** The same options for a run in another folder. */
function toArguments(options: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(options).flatMap(([option, value]) => [
    `--${option}`,
    option === "data" ? resolve(value!) : value!,
  ]);
}
