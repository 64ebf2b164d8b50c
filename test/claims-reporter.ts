import { globSync } from "node:fs";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { CLAIMS, claimsOf } from "./claims.ts";
import { isMeasuring } from "./is-measuring.ts";

/**
 * Prints which claims the tests of a run have proven: `npm run verify` every claim, a run of all tests those without a
 * proof. A claim is proven if none of its tests failed or was skipped.
 */
export function createClaimsReporter(): Reporter {
  return {
    onTestRunEnd: (modules) => {
      printSecondTries(modules);
      if (!isMeasuring() && modules.length < globSync("{src,test}/**/*.test.ts").length) return;
      const tests = Map.groupBy(modules.flatMap(citations), ({ id }) => id);
      for (const [kind, claims] of Object.entries<Record<string, string>>(CLAIMS)) {
        const rows = Object.entries(claims).map(([id, says]) => {
          const states = (tests.get(id) ?? []).map(({ state }) => state);
          return { id, says, tests: states.length, verdict: verdictOf(states) };
        });
        const proven = rows.filter(({ verdict }) => verdict === "ok");
        console.log(`\n${kind}: ${proven.length} of ${rows.length} proven`);
        for (const row of rows)
          if (isMeasuring() || row.verdict !== "ok")
            console.log(
              `${row.verdict.padEnd(10)} ${row.id.padEnd(28)} ${String(row.tests).padStart(3)}  ${row.says}`,
            );
        if (rows.some(({ verdict }) => verdict === "FAILED" || verdict === "NO TEST")) process.exitCode = 1;
      }
    },
  };
}

function citations({ children }: TestModule): { readonly id: string; readonly state: string }[] {
  return [...children.allTests()].flatMap((test) =>
    titlesOf(test)
      .flatMap(claimsOf)
      .map((id) => ({ id, state: stateOf(test, id) })),
  );
}

/** A threat has to be withstood at the first try: a leak that shows half the time is a leak. */
function stateOf(test: TestCase, id: string): string {
  return id in CLAIMS.threat && test.diagnostic()?.flaky ? "failed" : test.result().state;
}

function printSecondTries(modules: readonly TestModule[]): void {
  const flaky = modules
    .flatMap(({ children }) => [...children.allTests()])
    .filter((test) => test.diagnostic()?.flaky);
  if (flaky.length === 0) return;
  console.log("\nPassed at the second try only:");
  for (const test of flaky) console.log(`  ${test.module.relativeModuleId}: ${test.fullName}`);
}

/** The title of a test and those of the groups around it. */
function titlesOf(test: TestCase): string[] {
  const titles = [test.name];
  for (let group = test.parent; group.type === "suite"; group = group.parent) titles.push(group.name);
  return titles;
}

function verdictOf(states: readonly string[]): "ok" | "FAILED" | "skipped" | "NO TEST" {
  if (states.length === 0) return "NO TEST";
  if (states.includes("failed")) return "FAILED";
  return states.every((state) => state === "passed") ? "ok" : "skipped";
}
