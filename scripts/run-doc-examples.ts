// Type-checks and runs, against the source and each in an empty folder, every `@example` of the public API, or with
// the argument `pages` every TypeScript block of the pages. Examples marked `no-run`, and blocks marked
// `not-run: REASON`, need a network, a test runner or an optional package; they are type-checked only.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { docBlocks } from "../test/doc-blocks.ts";
import { publicNames } from "../test/public-api.ts";

interface Example {
  readonly name: string;
  readonly code: string;
  readonly isRun: boolean;
}

/** Beside the sources, so that `keyhole` and its packages resolve. */
const FOLDER = `.doc-examples/${process.pid}`;
const FENCE = /```ts( no-run)?\n([\s\S]*?)```/g;

const home = process.cwd();
const isOfPages = process.argv[2] === "pages";
const examples = (isOfPages ? pageExamples() : apiExamples()).map((example) => ({
  ...example,
  file: resolve(FOLDER, `${example.name.replaceAll("/", "-")}.ts`),
}));
assert.ok(examples.length > 0, "No examples found.");

mkdirSync(FOLDER, { recursive: true });
const scratch = mkdtempSync(join(tmpdir(), "doc-examples-"));
const failures: string[] = [];
try {
  for (const { file, code } of examples) writeFileSync(file, `${code}\nexport {};\n`);
  const compilerOptions = { noUnusedLocals: false, rootDir: "../.." };
  // Declarations of packages that the project does not install.
  const files = [...examples.map(({ file }) => file), "../../src/faces/plain-tools/langchain-core.d.ts"];
  writeFileSync(
    join(FOLDER, "tsconfig.json"),
    JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, files, include: [], exclude: [] }),
  );
  const { status, stdout } = spawnSync("tsc", ["--noEmit", "-p", FOLDER], { encoding: "utf8" });
  if (status !== 0) failures.push(stdout);

  console.assert = (value, ...rest) =>
    assert.ok(value, rest.join(" ") || "an assertion of the example failed");
  console.log = () => {};
  for (const { name, file, isRun } of examples) {
    if (!isRun) continue;
    const folder = join(scratch, name);
    mkdirSync(folder, { recursive: true });
    process.chdir(folder);
    await import(file).catch((error: Error) => failures.push(`${name}: ${error.stack}`));
  }
} finally {
  process.chdir(home);
  rmSync(FOLDER, { recursive: true, force: true });
  rmSync(scratch, { recursive: true, force: true });
}
if (failures.length > 0) console.error(failures.join("\n"));
const run = examples.filter(({ isRun }) => isRun).length;
process.stdout.write(
  `${examples.length} examples checked, ${run} of them run, ${failures.length} failures\n`,
);
process.exit(failures.length > 0 ? 1 : 0);

function apiExamples(): Example[] {
  return publicNames().flatMap(({ name, door, declaration }) => {
    const [, text = ""] = declaration.doc.split("@example");
    return [...text.matchAll(FENCE)].map(([, noRun, code = ""], index) => ({
      name: `${door}-${name}-${index + 1}`,
      code,
      isRun: noRun === undefined,
    }));
  });
}

/** The blocks that do not repeat an example of `examples/`: those run there. */
function pageExamples(): Example[] {
  return docBlocks()
    .filter(({ language, file }) => language === "ts" && file === undefined)
    .map(({ page, line, setup, code, notRun }) => ({
      name: `${page}-${line}`,
      code: setup + code,
      isRun: notRun === undefined,
    }));
}
