// Compares Keyhole's index with other embedded engines, from a thousand documents to a million.
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Benchmark, Row } from "./benchmark.ts";
import { printBars } from "./scale/bars.ts";
import { installPeers } from "./scale/peers.ts";
import { type Outcome, runMeasure } from "./scale/run-measure.ts";
import { SYSTEMS, type System } from "./scale/systems.ts";
import { VECTOR_SYSTEMS } from "./scale/vectors/systems.ts";

const SIZES: readonly (readonly [name: string, documents: number])[] = [
  ["1k", 1_000],
  ["10k", 10_000],
  ["64k", 64_000],
  ["250k", 250_000],
  ["1M", 1_000_000],
];
const MEASURE = fileURLToPath(new URL("scale/measure.ts", import.meta.url));
const MEASURE_VECTORS = fileURLToPath(new URL("scale/vectors/measure.ts", import.meta.url));
/** With fewer vectors every one is compared. */
const LEAST_VECTORS = 64_000;
/** A peer that took longer than this at one size is not tried at the next. */
const MAX_PEER_MS = 120_000;

export const benchmark: Benchmark = async ({ docs = Number.POSITIVE_INFINITY, systems }) => {
  const rows: Row[] = [];
  let running = chosenSystems(systems);
  for (const [size, documents] of SIZES) {
    if (documents > docs) continue;
    for (const system of running.filter(({ maxDocuments }) => documents <= maxDocuments)) {
      const started = performance.now();
      const outcome = await measure(system, documents);
      const seconds = (performance.now() - started) / 1000;
      if (outcome.figures === undefined) {
        console.error(`scale: ${system.name} is skipped from ${size} on: ${outcome.reason}`);
        running = running.filter((other) => other !== system);
        continue;
      }
      console.error(`scale: ${size} ${system.name} measured in ${seconds.toFixed(0)} s`);
      rows.push(...toRows(size, system.name, outcome.figures));
      if (system.name === "keyhole" || seconds * 1000 <= MAX_PEER_MS) continue;
      console.error(
        `scale: ${system.name} is left out of larger sizes: it took ${seconds.toFixed(0)} s here`,
      );
      running = running.filter((other) => other !== system);
    }
    if (documents >= LEAST_VECTORS) rows.push(...(await vectorRows(size, documents, running)));
  }
  printBars(rows);
  return rows;
};

/** The nearest vectors of as many documents, for systems that are still measured. */
async function vectorRows(size: string, documents: number, running: readonly System[]): Promise<Row[]> {
  const rows: Row[] = [];
  const names = new Set(running.map(({ name }) => name));
  for (const { name } of VECTOR_SYSTEMS.filter((system) => documents <= system.maxVectors)) {
    if (!names.has(name)) continue;
    const outcome = await inFolder((folder) =>
      runMeasure(MEASURE_VECTORS, [name, String(documents), folder]),
    );
    if (outcome.figures === undefined) console.error(`scale: no vectors of ${name}: ${outcome.reason}`);
    else rows.push(...toRows(size, name, outcome.figures));
  }
  return rows;
}

function chosenSystems(wanted: readonly string[] | undefined): readonly System[] {
  const named = SYSTEMS.filter(({ name }) => wanted === undefined || wanted.includes(name));
  const chosen = named.filter(({ needs }) => needs === undefined || process.env[needs] !== undefined);
  for (const { name, needs } of named.filter((system) => !chosen.includes(system)))
    console.error(`scale: ${name} is skipped: ${needs} is not set`);
  const reason = chosen.some(({ isPeer }) => isPeer) ? installPeers() : undefined;
  if (reason === undefined) return chosen;
  const left = chosen.filter(({ isPeer }) => isPeer).map(({ name }) => name);
  console.error(`scale: ${left.join(", ")} are skipped: ${reason}`);
  return chosen.filter(({ isPeer }) => !isPeer);
}

function measure(system: System, documents: number): Promise<Outcome> {
  return inFolder(async (folder) => {
    const built = await runMeasure(MEASURE, ["build", system.name, String(documents), folder]);
    if (built.figures === undefined) return built;
    const disk_mb = sizeOf(folder) / 2 ** 20;
    const served = await runMeasure(MEASURE, ["serve", system.name, String(documents), folder]);
    if (served.figures === undefined) return served;
    return { figures: { ...built.figures, ...served.figures, disk_mb } };
  });
}

async function inFolder(run: (folder: string) => Promise<Outcome>): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-scale-"));
  try {
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const UNITS: readonly (readonly [metric: string, unit: string])[] = [
  ["build_ms", "ms"],
  ["query_p50", "ms"],
  ["query_p95", "ms"],
  ["rss_mb", "MB"],
  ["disk_mb", "MB"],
  ["reopen_ms", "ms"],
  ["upsert_p50", "ms"],
  ["upsert_p95", "ms"],
  ["vectors_build_ms", "ms"],
  ["vectors_p50", "ms"],
  ["vectors_p95", "ms"],
  ["vectors_exact_p50", "ms"],
  ["vectors_recall", "R@10 of exact"],
];

function toRows(size: string, system: string, figures: Readonly<Record<string, number>>): Row[] {
  return UNITS.filter(([metric]) => metric in figures).map(([metric, unit]) => ({
    bench: "scale",
    case: size,
    system,
    metric,
    value: figures[metric]!,
    unit,
  }));
}

function sizeOf(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}
