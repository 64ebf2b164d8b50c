// npm run bench -- NAME [options]: runs one benchmark, prints a table, or with --json one array of rows.
import { parseArgs } from "node:util";
import type { Benchmark, Row } from "./benchmark.ts";
import { toTable } from "./table.ts";

const BENCHMARKS: Readonly<Record<string, () => Promise<{ benchmark: Benchmark }>>> = {
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
  run: () => import("./run-plans.ts"),
  conversation: () => import("./conversation.ts"),
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
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
    `Usage: npm run bench -- NAME [--json] [--data PATH] [--docs N] [--minutes N] [--systems A,B]\nNames: ${Object.keys(BENCHMARKS).join(", ")}`,
  );
  process.exit(2);
}

const { benchmark } = await BENCHMARKS[name]!();
const rows: Row[] = await benchmark({
  data: values.data,
  docs,
  minutes,
  systems: values.systems?.split(","),
});
console.log(values.json ? JSON.stringify(rows) : toTable(rows));
