// npm run verify: runs the tests that prove what Keyhole claims, and prints one table of figures. Each figure is what
// the tests and benchmarks of this run have measured. Options: --json, --minutes N of load, --no-load, --only WORD in the
// path of a test.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Row } from "../bench/benchmark.ts";
import { FIGURES, FIGURES_FOLDER, type Figure, type FigureReport, readFigures } from "../test/figures.ts";
import { CLAIMS, type Claim, filesWith, isTitled, titlesOf } from "../test/proofs.ts";
import { testFiles } from "../test/test-files.ts";

/** One line of the table. Undefined `ok` means that nothing was measured; `detail` says why. */
interface Line {
  readonly name: string;
  readonly says: string;
  readonly value?: number;
  readonly of?: number;
  readonly unit?: string;
  readonly ok: boolean | undefined;
  readonly detail?: unknown;
}

interface Ran {
  readonly title: string;
  readonly did: "passed" | "failed" | "skipped";
}

/** A claim in detail. Undefined `holds` means that part of its proof is missing; `why` says which. */
interface Proof {
  readonly id: string;
  readonly says: string;
  readonly tests: number;
  readonly holds: boolean | undefined;
  readonly why?: string;
}

const MUTATIONS = "coverage/mutation.json";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    minutes: { type: "string", default: "3" },
    "no-load": { type: "boolean", default: false },
    only: { type: "string", default: "" },
  },
});

const folder = mkdtempSync(join(tmpdir(), "keyhole-figures-"));
const ran = runTests();
const load = values["no-load"] ? [] : [...bench("faults"), ...bench("soak", "--minutes", values.minutes)];
const reports = readFigures(folder);
const figures: Line[] = Object.entries<Figure>(FIGURES).map(([name, figure]) =>
  figure.mutants ? mutationLine(name, figure) : figureLine(name, figure),
);
const lines: Line[] = [
  ...Object.entries<Readonly<Record<string, Claim>>>(CLAIMS).map(([name, claims]) => claimLine(name, claims)),
  ...figures,
];
console.log(values.json ? JSON.stringify(lines, null, 2) : lines.map(toText).join("\n"));
if (lines.some(({ ok }) => ok === false)) process.exitCode = 1;

/** Runs the tests that a claim names or that report a figure. */
function runTests(): Ran[] {
  const files = testFiles().filter(({ file }) => file.includes(values.only));
  const titles = Object.values<Readonly<Record<string, Claim>>>(CLAIMS).flatMap((claims) =>
    Object.entries(claims).flatMap(([id, claim]) => titlesOf(id, claim)),
  );
  const reporting = files.filter(({ text }) => text.includes("reportFigure("));
  const wanted = new Set([...filesWith(titles, files), ...reporting].map(({ file }) => file));
  const output = join(folder, "tests");
  const args = ["run", ...wanted, "--reporter=json", `--outputFile=${output}`];
  const { stderr } = spawnSync("node_modules/.bin/vitest", args, {
    env: { ...process.env, [FIGURES_FOLDER]: folder },
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (!existsSync(output)) throw new Error(`The tests did not run: ${stderr}`);
  const { testResults }: { testResults: { assertionResults: { fullName: string; status: string }[] }[] } =
    JSON.parse(readFileSync(output, "utf8"));
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .map(({ fullName, status }) => ({
      title: fullName,
      did: status === "passed" || status === "failed" ? status : "skipped",
    }));
}

function bench(...args: string[]): Row[] {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["bench/run.ts", ...args, "--json"], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The benchmark ${args[0]} failed: ${stderr}`);
  return JSON.parse(stdout);
}

/** A line for one table of claims. Claims without a whole proof do not count as tested. */
function claimLine(name: string, claims: Readonly<Record<string, Claim>>): Line {
  const detail = Object.entries(claims).map(([id, claim]) => proofOf(id, claim));
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
function proofOf(id: string, claim: Claim): Proof {
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

function figureLine(name: string, figure: Figure): Line {
  const { says, unit } = figure;
  const found = figure.bench ? benchReports(name, figure.bench) : reports.filter((one) => one.name === name);
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

function benchReports(name: string, [benchName, metric]: readonly [string, string]): FigureReport[] {
  return load
    .filter((row) => row.bench === benchName && row.metric === metric)
    .map(({ value }) => ({ name: name as FigureReport["name"], value, of: 1 }));
}

function mutationLine(name: string, { says, unit = "%", atLeast = 100 }: Figure): Line {
  const line = { name, says, unit };
  if (!existsSync(MUTATIONS)) return { ...line, ok: undefined, detail: "not run: npm run mutate" };
  const { files }: { files: Record<string, { mutants: { status: string }[] }> } = JSON.parse(
    readFileSync(MUTATIONS, "utf8"),
  );
  const detail = Object.entries(files)
    .map(([id, { mutants }]) => ({ id, ...scoreOf(mutants) }))
    .filter(({ of: valid }) => valid > 0);
  const { value, of } = scoreOf(Object.values(files).flatMap(({ mutants }) => mutants));
  return { ...line, value, of, ok: value >= atLeast, detail };
}

function scoreOf(mutants: readonly { readonly status: string }[]): { value: number; of: number } {
  const count = (...statuses: string[]) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const detected = count("Killed", "Timeout");
  const of = detected + count("Survived", "NoCoverage");
  return { value: (100 * detected) / of, of };
}

function toText({ name, says, value, of, unit, ok, detail }: Line): string {
  const mark = ok === undefined ? "–" : ok ? "ok" : "NO";
  const figure = value === undefined ? String(detail) : `${round(value)}${unit ? ` ${unit}` : ""} (of ${of})`;
  const proofs: readonly Proof[] = Array.isArray(detail) ? detail : [];
  const not = proofs.flatMap(({ id, why }) => (why === undefined ? [] : [`${id} (${why})`]));
  const rest = not.length > 0 ? `; not: ${not.join(", ")}` : "";
  return `${mark.padEnd(3)} ${name.padEnd(24)} ${figure.padEnd(40)} ${says}${rest}`;
}

function round(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}
