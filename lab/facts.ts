import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { ASSERTIONS } from "./assertions.ts";
import type { LabRow } from "./finding.ts";

const FOLDER = resolve(import.meta.dirname, "facts");

/** The facts that were recorded of a client, or none. */
export async function readFacts(client: string): Promise<LabRow[]> {
  const text = await readFile(fileOf(client), "utf8").catch(() => "[]");
  return JSON.parse(text) as LabRow[];
}

/** Facts that this run has not looked at stay as they are. */
export async function writeFacts(client: string, found: readonly LabRow[]): Promise<void> {
  const looked = new Set(found.map(({ assertion }) => assertion));
  const kept = (await readFacts(client)).filter(({ assertion }) => !looked.has(assertion));
  const order = ASSERTIONS.map(({ name }) => name);
  const rows = [...found, ...kept].sort((a, b) => order.indexOf(a.assertion) - order.indexOf(b.assertion));
  await writeFile(fileOf(client), `${JSON.stringify(rows, undefined, 2)}\n`);
}

/** One line for each fact that is another one now. Figures may move; facts may not. */
export function diffFacts(recorded: readonly LabRow[], found: readonly LabRow[]): string[] {
  const before = new Map(recorded.map((row) => [row.assertion, row]));
  return found.flatMap((row) => {
    const known = before.get(row.assertion);
    const name = `${row.client} ${row.version}, ${row.assertion}`;
    if (!known) return [`${name}: new: ${row.fact}`];
    if (known.fact === row.fact && known.ok === row.ok) return [];
    return [`${name}: ${row.fact} (${known.version}: ${known.fact})`];
  });
}

/** Rows of runs with several sizes and ways, direct and behind Keyhole. */
interface SizedRow {
  readonly client: string;
  readonly way: string;
  readonly size: number;
}

export async function readRows<T extends SizedRow>(name: string): Promise<T[]> {
  return JSON.parse(await readFile(fileOf(name), "utf8").catch(() => "[]")) as T[];
}

/** Rows of runs that were not made now stay as they are. */
export async function recordRows(name: string, rows: readonly SizedRow[]): Promise<void> {
  const keyOf = ({ client, size, way }: SizedRow) => `${client} ${size} ${way}`;
  const now = new Set(rows.map(keyOf));
  const others = (await readRows(name)).filter((row) => !now.has(keyOf(row)));
  const lines = [...others, ...rows].map((row) => JSON.stringify(row));
  await writeFile(fileOf(name), `[\n${lines.join(",\n")}\n]\n`);
}

function fileOf(name: string): string {
  return resolve(FOLDER, `${name}.json`);
}
