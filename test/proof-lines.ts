// The table of what tests prove and measure, made from what a run of tests did.
import type { Row } from "../bench/benchmark.ts";
import { FIGURES, type Figure, type FigureReport } from "./figures.ts";
import { readMutationScores, scoreOf } from "./mutation-scores.ts";
import { CLAIMS, type Claim, isTitled, titlesOf } from "./proofs.ts";

/** The share of mutants that must lie in unchanged files for the score to count. */
const LEAST_CURRENT = 0.7;

/** One line of the table. Undefined `ok` means that nothing was measured; `detail` says why. */
export interface Line {
  readonly name: string;
  readonly says: string;
  readonly value?: number;
  readonly of?: number;
  readonly unit?: string;
  readonly ok: boolean | undefined;
  readonly detail?: unknown;
}

/** A test that ran, by its full title. */
export interface Ran {
  readonly title: string;
  readonly did: "passed" | "failed" | "skipped";
}

export interface Measured {
  readonly ran: readonly Ran[];
  readonly reports: readonly FigureReport[];
  /** Rows of benchmarks of load, if they ran. */
  readonly load: readonly Row[];
}

/** A claim in detail. Undefined `holds` means that part of its proof is missing; `why` says which. */
interface Proof {
  readonly id: string;
  readonly says: string;
  readonly tests: number;
  readonly holds: boolean | undefined;
  readonly why?: string;
}

export function toLines(measured: Measured): Line[] {
  const figures = Object.entries<Figure>(FIGURES).map(([name, figure]) =>
    figure.mutants ? mutationLine(name, figure) : figureLine(name, figure, measured),
  );
  const claims = Object.entries<Readonly<Record<string, Claim>>>(CLAIMS).map(([name, rows]) =>
    claimLine(name, rows, measured.ran, figures),
  );
  return [...claims, ...figures];
}

export function toText({ name, says, value, of, unit, ok, detail }: Line): string {
  const mark = ok === undefined ? "–" : ok ? "ok" : "NO";
  const figure = value === undefined ? String(detail) : `${round(value)}${unit ? ` ${unit}` : ""} (of ${of})`;
  const proofs: readonly Proof[] = Array.isArray(detail) ? detail : [];
  const not = proofs.flatMap(({ id, why }) => (why === undefined ? [] : [`${id} (${why})`]));
  const rest = not.length > 0 ? `; not: ${not.join(", ")}` : "";
  return `${mark.padEnd(3)} ${name.padEnd(24)} ${figure.padEnd(40)} ${says}${rest}`;
}

/** A line for one table of claims. Claims without a whole proof do not count as tested. */
function claimLine(
  name: string,
  claims: Readonly<Record<string, Claim>>,
  ran: readonly Ran[],
  figures: readonly Line[],
): Line {
  const detail = Object.entries(claims).map(([id, claim]) => proofOf(id, claim, ran, figures));
  const holding = detail.filter(({ holds }) => holds).length;
  return {
    name: `${name}-tested`,
    says: `${name} whose tests ran and passed`,
    value: holding,
    of: detail.length,
    ok: detail.every(({ holds }) => holds !== false),
    detail,
  };
}

/** A claim holds if each test that it names ran, none failed, and its figures are within their bars. */
function proofOf(id: string, claim: Claim, ran: readonly Ran[], figures: readonly Line[]): Proof {
  const ranAs = (title: string) => ran.filter((one) => isProof(one.title, title));
  const tests = titlesOf(id, claim).flatMap(ranAs);
  const named = figures.filter((figure) => claim.figures?.includes(figure.name));
  const proof = { id, says: claim.says, tests: tests.length };
  if (claim.missing !== undefined) return { ...proof, holds: undefined, why: claim.missing };
  const absent = claim.tests.find((title) => ranAs(title).length === 0);
  if (absent !== undefined) return { ...proof, holds: false, why: `did not run: ${absent}` };
  const failed =
    tests.find(({ did }) => did === "failed")?.title ?? named.find(({ ok }) => ok === false)?.name;
  if (failed !== undefined) return { ...proof, holds: false, why: `failed: ${failed}` };
  const skipped = tests.find(({ did }) => did === "skipped")?.title;
  if (skipped !== undefined) return { ...proof, holds: undefined, why: `skipped: ${skipped}` };
  const unmeasured = named.find(({ ok }) => ok === undefined);
  if (unmeasured) return { ...proof, holds: undefined, why: String(unmeasured.detail) };
  if (tests.length + named.length === 0) return { ...proof, holds: false, why: "no test ran" };
  return { ...proof, holds: true };
}

/** The id of a threat counts at the beginning of a title. */
function isProof(ranTitle: string, title: string): boolean {
  return /^T\d+[: ]$/.test(title) ? ranTitle.startsWith(title) : isTitled(ranTitle, title);
}

function figureLine(name: string, figure: Figure, { reports, load }: Measured): Line {
  const { says, unit } = figure;
  const found = figure.bench ? loadReports(load, figure.bench) : reports.filter((one) => one.name === name);
  const line = { name, says, ...(unit && { unit }) };
  if (found.length === 0) {
    const why = figure.bench
      ? `not run: npm run bench -- ${figure.bench[0]}`
      : "not measured: no test has reported it";
    return { ...line, ok: undefined, detail: why };
  }
  const total = found.reduce((sum, one) => sum + one.of, 0);
  const sum = found.reduce((all, one) => all + one.value, 0);
  const value = { sum, share: sum / total, worst: Math.max(...found.map((one) => one.value)) }[
    figure.combine
  ];
  const { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY, cases = 0 } = figure;
  return { ...line, value, of: total, ok: value <= atMost && value >= atLeast && total >= cases };
}

function loadReports(
  load: readonly Row[],
  [bench, metric]: readonly [string, string],
): { readonly value: number; readonly of: number }[] {
  return load
    .filter((row) => row.bench === bench && row.metric === metric)
    .map(({ value }) => ({ value, of: 1 }));
}

/** The score over the files that are as they were when it was measured. The others are named. */
function mutationLine(name: string, { says, unit = "%", atLeast = 100 }: Figure): Line {
  const line = { name, says, unit };
  const scores = readMutationScores();
  const current = scores.filter((score) => score.isCurrent);
  const { value, of } = scoreOf(current);
  const detail = scores.map((score) => ({
    id: score.file,
    ...scoreOf([score]),
    ...(!score.isCurrent && { why: "changed since it was measured" }),
  }));
  if (of < scoreOf(scores).of * LEAST_CURRENT || of === 0)
    return { ...line, ok: undefined, detail: "too much has changed since it was measured: npm run mutate" };
  return { ...line, value, of, ok: value >= atLeast, detail };
}

function round(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}
