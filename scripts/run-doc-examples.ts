// Type-checks every `@example` of the public API and runs it against the source, in an empty folder. Examples
// marked `no-run` need a network, a test runner or an optional package; they are type-checked only.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { publicNames } from "../test/public-api.ts";

/** Beside the sources, so that `keyhole` and its packages resolve. */
const FOLDER = ".doc-examples";
const FENCE = /```ts( no-run)?\n([\s\S]*?)```/g;

const home = process.cwd();
const examples = publicNames().flatMap(({ name, door, declaration }) => {
  const [, text = ""] = declaration.doc.split("@example");
  return [...text.matchAll(FENCE)].map(([, noRun, code = ""], index) => {
    const file = resolve(FOLDER, `${door.replace("/", "-")}-${name}-${index + 1}.ts`);
    return { name, file, code, isRun: noRun === undefined };
  });
});
assert.ok(examples.length > 0, "No examples found.");

mkdirSync(FOLDER, { recursive: true });
const scratch = mkdtempSync(join(tmpdir(), "doc-examples-"));
const failures: string[] = [];
try {
  for (const { file, code } of examples) writeFileSync(file, `${code}\nexport {};\n`);
  const compilerOptions = { noUnusedLocals: false, rootDir: ".." };
  // Declarations of packages that the project does not install.
  const files = [...examples.map(({ file }) => file), "../src/faces/plain-tools/langchain-core.d.ts"];
  writeFileSync(
    join(FOLDER, "tsconfig.json"),
    JSON.stringify({ extends: "../tsconfig.json", compilerOptions, files, include: [], exclude: [] }),
  );
  const { status, stdout } = spawnSync("tsc", ["--noEmit", "-p", FOLDER], { encoding: "utf8" });
  if (status !== 0) failures.push(stdout);

  console.assert = (value, ...rest) =>
    assert.ok(value, rest.join(" ") || "an assertion of the example failed");
  console.log = () => {};
  for (const { name, file, isRun } of examples) {
    if (!isRun) continue;
    const folder = join(scratch, name);
    mkdirSync(folder);
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
