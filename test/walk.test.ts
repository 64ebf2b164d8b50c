import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const MOST_STEPS = 25;

test("a call takes the steps that ARCHITECTURE.md lists, in their order", () => {
  const [, list = ""] =
    /<!-- walk -->([\s\S]*?)<!-- \/walk -->/.exec(readFileSync("ARCHITECTURE.md", "utf8")) ?? [];
  const steps = [...list.matchAll(/^\d+\. `([\w/-]+\.ts)` `(\w+)`/gm)].map(
    ([, file, name]) => `${file} ${name}`,
  );
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.length).toBeLessThanOrEqual(MOST_STEPS);

  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--no-warnings", "--import", "./test/walk/record-functions.ts", "test/walk/call-over-stdio.ts"],
    { encoding: "utf8" },
  );
  const walk: string[] = JSON.parse(stdout || "[]");
  const taken = steps.toSorted((left, right) => walk.indexOf(left) - walk.indexOf(right));
  expect(
    steps.filter((step) => !walk.includes(step)),
    stderr,
  ).toEqual([]);
  expect(taken).toEqual(steps);
});
