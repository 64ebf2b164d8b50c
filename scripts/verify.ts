// npm run verify: runs the tests that prove what Keyhole claims, and prints one table of figures. Each figure is what
// the tests and benchmarks of this run have measured; the mutation score is that of `npm run mutate`. Options: --json,
// --minutes N of load, --no-load, --only WORD in the path of a test, --soak for the rows of the soak alone.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import type { Row } from "../bench/benchmark.ts";
import {
  FIGURES,
  FIGURES_FOLDER,
  type Figure,
  type FigureName,
  MEASURES,
  readFigures,
} from "../test/figures.ts";
import { type Ran, toLines, toText } from "../test/proof-lines.ts";
import { CLAIMS, type Claim, filesWith, titlesOf } from "../test/proofs.ts";
import { testFiles } from "../test/test-files.ts";

/** Tests repeat more here than elsewhere, and the machine may be busy. */
const MOST_MS = 900_000;

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    minutes: { type: "string", default: "3" },
    "no-load": { type: "boolean", default: false },
    only: { type: "string", default: "" },
    soak: { type: "boolean", default: false },
  },
});

const folder = mkdtempSync(join(tmpdir(), "keyhole-figures-"));
// The soak does not depend on what else runs. The delays of floods do, so they are measured last.
const soaking = values["no-load"] ? [] : bench("soak", "--minutes", values.minutes);
const ran = values.soak ? [] : await runTests();
const load = [...(await soaking), ...(values.soak || values["no-load"] ? [] : await bench("faults"))];
const lines = toLines({ ran, load, reports: readFigures(folder) }).filter(
  ({ name }) => !values.soak || isSoak(FIGURES[name as FigureName]),
);
console.log(values.json ? JSON.stringify(lines, null, 2) : lines.map(toText).join("\n"));
if (lines.some(({ ok }) => ok === false)) process.exitCode = 1;

function isSoak(figure: Figure | undefined): boolean {
  return figure?.bench?.[0] === "soak";
}

/** Runs the tests that a claim names or that report a figure. */
async function runTests(): Promise<Ran[]> {
  const files = testFiles().filter(({ file }) => file.includes(values.only));
  const titles = Object.values<Readonly<Record<string, Claim>>>(CLAIMS).flatMap((claims) =>
    Object.entries(claims).flatMap(([id, claim]) => titlesOf(id, claim)),
  );
  const reporting = files.filter(({ text }) => text.includes("reportFigure("));
  const wanted = new Set([...filesWith(titles, files), ...reporting].map(({ file }) => file));
  const output = join(folder, "tests");
  const limits = ["--testTimeout", "--hookTimeout"].map((limit) => `${limit}=${MOST_MS}`);
  const args = ["run", ...wanted, "--reporter=json", `--outputFile=${output}`, ...limits];
  const env = { ...process.env, [FIGURES_FOLDER]: folder, [MEASURES]: "1" };
  const { stderr } = await run("node_modules/.bin/vitest", args, env);
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

async function bench(...args: string[]): Promise<Row[]> {
  const { stdout, stderr, status } = await run(process.execPath, ["bench/run.ts", ...args, "--json"]);
  if (status === 0) return JSON.parse(stdout);
  console.error(`The benchmark ${args[0]} failed: ${stderr}`);
  process.exitCode = 1;
  return [];
}

/** Runs a program to its end, or until this one ends. */
async function run(command: string, args: readonly string[], env = process.env) {
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const stop = () => child.kill();
  process.once("exit", stop);
  const ended = new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  process.off("exit", stop);
  return { stdout, stderr, status };
}
