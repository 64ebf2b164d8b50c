import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const MOST_STEPS = 25;
/** Modules that a call passes, without leaves (`base/`) and the inside of search. They may only become fewer. */
const MOST_MODULES = {
  exec: 43,
  get: 36,
  ask: 40,
  "approved 2025-11-25": 40,
  "approved 2026-07-28": 37,
  task: 42,
  "ai-sdk": 39,
  chat: 59,
};
/** The inside of search, leaves, timers of servers, and the model of the test. */
const BESIDE = /^(?:base|search|testing|sources\/mcp\/process-tree\.ts)/;
/** How often an input has to be read: once for each request that carries it. */
const READS = {
  exec: 1,
  get: 1,
  ask: 1,
  "approved 2025-11-25": 2,
  "approved 2026-07-28": 2,
  task: 1,
  "ai-sdk": 1,
  chat: 1,
};

const { stdout, stderr } = spawnSync(
  process.execPath,
  ["--no-warnings", "--import", "./test/walk/record-functions.ts", "test/walk/record-walks.ts"],
  { encoding: "utf8" },
);
const walks: Readonly<Record<string, readonly string[]>> = JSON.parse(stdout || "{}");

test.each(Object.entries(MOST_MODULES))("%s passes at most %i modules", (name, most) => {
  const walk = walks[name] ?? [];
  expect(walk.length, stderr).toBeGreaterThan(20);
  const modules = new Set(walk.map((step) => step.split(" ")[0]!).filter((file) => !BESIDE.test(file)));
  console.log(`${name}: ${modules.size} modules, ${walk.length} functions`);
  expect(modules.size).toBeLessThanOrEqual(most);
});

test.each(Object.entries(READS))("%s is read %i times and leaves once", (name, reads) => {
  const times = (step: string) => walks[name]?.filter((each) => each === step).length;
  expect(times("core/nouns/json-form.ts readInput")).toBe(reads);
  // The chat's model calls the tool by its own name, which its list of tools has resolved.
  if (name !== "chat") expect(times("gateway/toolbox.ts toCall")).toBe(reads);
  expect(times("gateway/run-operation.ts leave")).toBe(1);
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
