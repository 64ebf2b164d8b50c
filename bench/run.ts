// npm run bench -- NAME [options]: runs one benchmark, prints a table, or with --json one array of rows.
import { parseArgs } from "node:util";
import type { Benchmark, Row } from "./benchmark.ts";
import { toTable } from "./table.ts";

const BENCHMARKS: Readonly<Record<string, () => Promise<{ benchmark: Benchmark }>>> = {
  tokens: () => import("./tokens.ts"),
  serving: () => import("./serving.ts"),
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    data: { type: "string" },
  },
});
const [name = ""] = positionals;
if (!Object.hasOwn(BENCHMARKS, name)) {
  console.error(
    `Usage: npm run bench -- NAME [--json] [--data DIR]\nNames: ${Object.keys(BENCHMARKS).join(", ")}`,
  );
  process.exit(2);
}

const { benchmark } = await BENCHMARKS[name]!();
const rows: Row[] = await benchmark(values);
console.log(values.json ? JSON.stringify(rows) : toTable(rows));
