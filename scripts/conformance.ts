// npm run conformance [-- --json]: runs the official suite against our server in both revisions, against servers
// directly and through a gateway, and against our upstream client. It fails if a scenario fails (or passes directly
// only) unexpectedly, and if an expected failure passes.
import type { Row } from "../bench/benchmark.ts";
import { toTable } from "../bench/table.ts";
import { CLIENT_FAILURES, EXPECTED_FAILURES, LOST_THROUGH } from "../test/conformance/expected-failures.ts";
import { serveFixture } from "../test/conformance/fixture.ts";
import { serveReference, serveThrough } from "../test/conformance/reference.ts";
import { runClientSuite } from "../test/conformance/run-client-suite.ts";
import { hasPassed, runSuite, type Scenario } from "../test/conformance/run-suite.ts";

/** The revision that the reference server speaks. */
const REFERENCE_REVISION = "2025-11-25";
/** The revision of the client scenarios, which include those of the revision before. */
const CLIENT_REVISION = "2026-07-28";
const rows: Row[] = [];
const wrong: string[] = [];

const reference = await serveReference();
const direct = await runSuite(REFERENCE_REVISION, reference.url);
// The reference may fail anything: many scenarios look for tools that it does not have.
report("direct", direct, [], {});
await compare("through-gateway", REFERENCE_REVISION, reference.url, direct);
await reference.close();

const fixture = await serveFixture();
for (const [revision, expected] of Object.entries(EXPECTED_FAILURES)) {
  const scenarios = await runSuite(revision, fixture.url);
  const failing = scenarios.filter(({ failed }) => failed > 0);
  report(`server-${revision}`, scenarios, failing, expected);
  await compare(`through-gateway-${revision}`, revision, fixture.url, scenarios);
}
await fixture.close();

const asClient = await runClientSuite(CLIENT_REVISION);
for (const [which, expected] of Object.entries(CLIENT_FAILURES)) {
  const scenarios = asClient.filter(({ name }) => name.startsWith("auth/") === (which === "client-auth"));
  const failing = scenarios.filter((scenario) => !hasPassed(scenario));
  report(which, scenarios, failing, expected);
}

console.log(process.argv.includes("--json") ? JSON.stringify(rows) : toTable(rows));
for (const line of wrong) console.error(line);
process.exit(wrong.length === 0 ? 0 : 1);

/** Runs the same scenarios through a gateway. Every scenario that passes directly must pass there too. */
async function compare(
  which: string,
  revision: string,
  url: string,
  directly: readonly Scenario[],
): Promise<void> {
  const through = await serveThrough(url);
  const scenarios = await runSuite(revision, through.url);
  await through.close();
  const passing = new Set(scenarios.filter(hasPassed).map(({ name }) => name));
  const lost = directly.filter((scenario) => hasPassed(scenario) && !passing.has(scenario.name));
  report(which, scenarios, lost, LOST_THROUGH[which] ?? {});
}

function report(
  which: string,
  scenarios: readonly Scenario[],
  failing: readonly Scenario[],
  expected: Readonly<Record<string, string>>,
): void {
  const passed = scenarios.filter(hasPassed).length;
  const unexpected = failing.filter(({ name }) => !Object.hasOwn(expected, name));
  const stale = Object.keys(expected).filter((name) => !failing.some((scenario) => scenario.name === name));
  if (passed === 0) wrong.push(`${which}: nothing ran`);
  wrong.push(...unexpected.map(({ name }) => `${which}: ${name} fails`));
  wrong.push(...stale.map((name) => `${which}: ${name} is expected to fail but passes`));
  const skipped = scenarios.length - passed - unexpected.length;
  const counts = { passed, failed: unexpected.length + stale.length, skipped };
  const system = which === "direct" ? "server-everything" : "keyhole";
  for (const [metric, value] of Object.entries(counts)) {
    rows.push({ bench: "conformance", case: which, system, metric, value, unit: "scenarios" });
  }
}
