// Runs every self-checking example. With --built, against dist/ as a user would install it.
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const built = process.argv.includes("--built");
const folder = built ? installedCopy() : process.cwd();
const examples = globSync(["examples/programs/*.ts", "examples/*/walkthrough.ts"], {
  cwd: folder,
}).sort();
let failed = 0;
for (const example of examples) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [example], {
    cwd: folder,
    encoding: "utf8",
  });
  console.log(`${status === 0 ? "ok    " : "FAILED"}  ${example}`);
  if (status !== 0) console.error(stdout + stderr);
  if (status !== 0) failed++;
}
if (built) rmSync(folder, { recursive: true });
console.log(`${examples.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 && examples.length > 0 ? 0 : 1);

/** Makes a folder with the examples and with `keyhole` in node_modules, but without the sources. */
function installedCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), "keyhole-examples-"));
  mkdirSync(join(copy, "node_modules"));
  symlinkSync(resolve("dist"), join(copy, "node_modules/keyhole"));
  for (const name of ["zod", "@modelcontextprotocol", "ai", "@ai-sdk", "@electric-sql"]) {
    symlinkSync(resolve("node_modules", name), join(copy, "node_modules", name));
  }
  cpSync("examples", join(copy, "examples"), { recursive: true });
  return copy;
}
