// Runs every self-checking example; with --built, against dist/ as a user's install would.
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const built = process.argv.includes("--built");
const folder = built ? installedCopy() : process.cwd();
const examples = globSync(["examples/quickstart.ts", "examples/*/walkthrough.ts"], {
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

/** A folder that has the examples and `keyhole` in its node_modules, but none of the sources. */
function installedCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), "keyhole-examples-"));
  mkdirSync(join(copy, "node_modules"));
  symlinkSync(resolve("dist"), join(copy, "node_modules/keyhole"));
  for (const name of ["zod", "@modelcontextprotocol", "ai", "@ai-sdk"]) {
    symlinkSync(resolve("node_modules", name), join(copy, "node_modules", name));
  }
  cpSync("examples", join(copy, "examples"), { recursive: true });
  return copy;
}
