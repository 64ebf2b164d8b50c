// npm run conformance [-- --json]: runs the official suite against a server of ours, for both revisions.
// Fails on a scenario that fails and is not expected to, and on one that is expected to and does not.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Row } from "../bench/benchmark.ts";
import { toTable } from "../bench/table.ts";
import { EXPECTED_FAILURES } from "../test/conformance/expected-failures.ts";
import { serveFixture } from "../test/conformance/fixture.ts";

const SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const rows: Row[] = [];
const wrong: string[] = [];

const fixture = await serveFixture();
for (const [revision, expected] of Object.entries(EXPECTED_FAILURES)) {
  const scenarios = await runSuite(revision, fixture.url);
  const passed = scenarios.filter(({ failed, checks }) => failed === 0 && checks > 0);
  const failed = scenarios.filter((scenario) => scenario.failed > 0);
  const unexpected = failed.filter(({ name }) => !Object.hasOwn(expected, name));
  const stale = Object.keys(expected).filter((name) => !failed.some((scenario) => scenario.name === name));
  if (passed.length === 0) wrong.push(`${revision}: nothing ran`);
  wrong.push(...unexpected.map(({ name }) => `${revision}: ${name} fails`));
  wrong.push(...stale.map((name) => `${revision}: ${name} is expected to fail and does not`));
  const counts = {
    passed: passed.length,
    failed: unexpected.length + stale.length,
    skipped: scenarios.length - passed.length - unexpected.length,
  };
  for (const [metric, value] of Object.entries(counts)) {
    const which = { bench: "conformance", case: `server-${revision}`, system: "keyhole" };
    rows.push({ ...which, metric, value, unit: "scenarios" });
  }
}
await fixture.close();

console.log(process.argv.includes("--json") ? JSON.stringify(rows) : toTable(rows));
for (const line of wrong) console.error(line);
process.exit(wrong.length === 0 ? 0 : 1);

interface Scenario {
  readonly name: string;
  readonly checks: number;
  readonly failed: number;
}

/** Reads the summary that the suite prints: one line for each scenario. */
async function runSuite(revision: string, url: string): Promise<Scenario[]> {
  const results = mkdtempSync(join(tmpdir(), "keyhole-conformance-"));
  const args = [SUITE, "server", "--url", url, "--requirements", revision, "--output-dir", results];
  const suite = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const chunk of suite.stdout.setEncoding("utf8")) output += chunk;
  rmSync(results, { recursive: true, force: true });
  const lines = output
    .slice(output.indexOf("=== SUMMARY ==="))
    .matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm);
  return [...lines].map(([, name = "", passed, failed]) => ({
    name,
    checks: Number(passed) + Number(failed),
    failed: Number(failed),
  }));
}
