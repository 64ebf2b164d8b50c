import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const MOST_STEPS = 25;
/** Modules that a call passes, without leaves (`base/`) and the inside of search. They may only become fewer. */
const MOST_MODULES = { exec: 41, get: 30, ask: 40, approved: 39 };
/** Work beside the call: timers of servers, and the count of the answer before. */
const BESIDE = /^(?:base|search|sources\/mcp\/process-tree\.ts|gateway\/ledger\.ts)/;

const { stdout, stderr } = spawnSync(
  process.execPath,
  ["--no-warnings", "--import", "./test/walk/record-functions.ts", "test/walk/call-over-stdio.ts"],
  { encoding: "utf8" },
);
const walks: Readonly<Record<string, readonly string[]>> = JSON.parse(stdout || "{}");

test.each(Object.entries(MOST_MODULES))("%s passes at most %i modules", (name, most) => {
  const walk = walks[name] ?? [];
  expect(walk.length, stderr).toBeGreaterThan(20);
  const modules = new Set(walk.map((step) => step.split(" ")[0]!).filter((file) => !BESIDE.test(file)));
  expect(modules.size).toBeLessThanOrEqual(most);
});

test("a call is resolved once, read once and leaves once, also if a person is asked first", () => {
  const times = (name: string, step: string) => walks[name]?.filter((each) => each === step).length;
  for (const [name, requests] of Object.entries({ exec: 1, get: 1, ask: 1, approved: 2 })) {
    expect([name, times(name, "gateway/toolbox.ts toCall")]).toEqual([name, requests]);
    expect([name, times(name, "core/nouns/json-form.ts readInput")]).toEqual([name, requests]);
    expect([name, times(name, "gateway/run-operation.ts leave")]).toEqual([name, 1]);
  }
});

test("a call takes the steps that ARCHITECTURE.md lists, in their order", () => {
  const [, list = ""] =
    /<!-- walk -->([\s\S]*?)<!-- \/walk -->/.exec(readFileSync("ARCHITECTURE.md", "utf8")) ?? [];
  const steps = [...list.matchAll(/^\d+\. `([\w/-]+\.ts)` `(\w+)`/gm)].map(
    ([, file, name]) => `${file} ${name}`,
  );
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.length).toBeLessThanOrEqual(MOST_STEPS);

  const walk = walks.exec ?? [];
  const taken = steps.toSorted((left, right) => walk.indexOf(left) - walk.indexOf(right));
  expect(
    steps.filter((step) => !walk.includes(step)),
    stderr,
  ).toEqual([]);
  expect(taken).toEqual(steps);
});
