import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The variable that names the folder for reports. */
export const FIGURES_FOLDER = "KEYHOLE_FIGURES";
/** The variable that `npm run verify` sets: tests then repeat more than in other runs. */
export const MEASURES = "KEYHOLE_MEASURES";

/** Whether tests repeat as often as their figures deserve, or as often as anybody wants to wait. */
export function isMeasuring(): boolean {
  return process.env[MEASURES] !== undefined;
}

export interface Figure {
  readonly says: string;
  /** `sum` adds the reports, `share` divides their sum by the number of cases, `worst` takes the largest. */
  readonly combine: "sum" | "share" | "worst";
  readonly unit?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** The least number of cases that the reports must cover. */
  readonly cases?: number;
  /** The benchmark and the metric that measure it, in place of tests. */
  readonly bench?: readonly [name: string, metric: string];
  /** `npm run mutate` measures it, in place of tests. */
  readonly mutants?: true;
}

/** The figures that tests measure. `npm run verify` prints each of them; tests report them by name. */
export const FIGURES = {
  leaks: { says: "answers that reveal a hidden entry", combine: "sum", atMost: 0 },
  "foreign-nonces": { says: "answers that belong to another session", combine: "sum", atMost: 0 },
  "policy-disagreements": {
    says: "entries that one face shows or runs and another denies",
    combine: "sum",
    atMost: 0,
  },
  "doubled-executions": { says: "calls that ran twice", combine: "sum", atMost: 0 },
  "lost-executions": { says: "answered calls that did not run", combine: "sum", atMost: 0 },
  "foreign-handles": { says: "handles that another caller could read", combine: "sum", atMost: 0 },
  "leaked-processes": { says: "processes that outlived their gateway", combine: "sum", atMost: 0 },
  "kill-recoveries": { says: "kills after which the state was old or new", combine: "share", atLeast: 1 },
  "failed-writes": {
    says: "failed writes after which the state was old or new",
    combine: "share",
    atLeast: 1,
  },
  "slow-hostile-inputs": { says: "hostile inputs slower than 100 ms", combine: "sum", atMost: 0 },
  "secrets-found": {
    says: "planted secrets found where none may be",
    combine: "sum",
    atMost: 0,
    cases: 60,
  },
  "poison-recall": {
    says: "poisoned definitions that were flagged",
    combine: "share",
    atLeast: 0.9,
    cases: 60,
  },
  "poison-false-positives": {
    says: "clean definitions that were flagged",
    combine: "share",
    atMost: 0.05,
    cases: 300,
  },
  "memory-slope": {
    says: "growth of the heap under load",
    combine: "worst",
    unit: "KB/minute",
    atMost: 1_024,
    bench: ["soak", "memory_slope"],
  },
  "descriptors-left": {
    says: "descriptors left after load",
    combine: "worst",
    atMost: 2,
    bench: ["soak", "descriptors_left"],
  },
  "timers-left": {
    says: "timers left after load",
    combine: "worst",
    atMost: 2,
    bench: ["soak", "timers_left"],
  },
  "loop-delay": {
    says: "delay of the event loop under floods, p99 beyond an idle one",
    combine: "worst",
    unit: "ms",
    atMost: 50,
    bench: ["faults", "added_p99"],
  },
  "mutation-score": {
    says: "mutants of the code that decides, guards and reads formats, which tests detect",
    combine: "share",
    unit: "%",
    atLeast: 85,
    mutants: true,
  },
} as const satisfies Record<string, Figure>;

/** The bar of a figure in words, such as `at most 0.05, of at least 300`. */
export function barOf({ atMost, atLeast, cases, unit }: Figure): string {
  const bars = [
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
  ].map((bar) => (unit ? `${bar} ${unit}` : bar));
  return [...bars, ...(cases === undefined ? [] : [`of at least ${cases}`])].join(", ");
}

export type FigureName = keyof typeof FIGURES;

/** One measurement: `value` of `of` cases. */
export interface FigureReport {
  readonly name: FigureName;
  readonly value: number;
  readonly of: number;
}

/**
 * Reports a figure to the table of proofs. A test calls it with what it measured:
 * `reportFigure("foreign-nonces", foreign.length, { of: answers.length })`. Several tests may report one
 * figure; its row says how the reports combine.
 */
export function reportFigure(name: FigureName, value: number, { of = 1 }: { of?: number } = {}): void {
  const folder = process.env[FIGURES_FOLDER];
  if (!folder) return;
  const report: FigureReport = { name, value, of };
  writeFileSync(join(folder, `${name}-${randomUUID()}.json`), JSON.stringify(report));
}

/** Reads the reports of a folder. */
export function readFigures(folder: string): FigureReport[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
}
