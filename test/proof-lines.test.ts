import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { TestModule, Vitest } from "vitest/node";
import { FIGURES } from "./figures.ts";
import { type Measured, type Ran, toLines, toText } from "./proof-lines.ts";
import { createProofReporter } from "./proof-reporter.ts";
import { CLAIMS, type Claim } from "./proofs.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { testFiles } from "./test-files.ts";

const TITLES = Object.values<Readonly<Record<string, Claim>>>(CLAIMS).flatMap((claims) =>
  Object.entries(claims).flatMap(([id, { tests }]) => [...tests, ...(/^T\d+$/.test(id) ? [`${id}: x`] : [])]),
);
const PASSED: readonly Ran[] = TITLES.map((title) => ({ title, did: "passed" }));

function lineOf(name: string, measured: Partial<Measured> = {}) {
  const lines = toLines({ ran: PASSED, reports: [], load: [], ...measured });
  return lines.find((line) => line.name === name)!;
}

test("every table of claims and every figure has a line", () => {
  const names = toLines({ ran: [], reports: [], load: [] }).map(({ name }) => name);
  expect(names).toEqual([...Object.keys(CLAIMS).map((name) => `${name}-tested`), ...Object.keys(FIGURES)]);
});

test("a claim counts once all of its tests ran and none failed or was skipped", () => {
  const { value, of } = lineOf("faults-tested");
  expect([value, of]).toEqual([Object.keys(CLAIMS.faults).length, Object.keys(CLAIMS.faults).length]);
  const [title] = CLAIMS.faults.hang.tests;
  const others = PASSED.filter((one) => one.title !== title);
  for (const [did, ok] of [
    ["failed", false],
    ["skipped", true],
  ] as const) {
    const line = lineOf("faults-tested", { ran: [...others, { title, did }] });
    expect([line.value, line.ok]).toEqual([value! - 1, ok]);
    expect(toText(line)).toContain(`hang (${did}: ${title})`);
  }
  expect(lineOf("faults-tested", { ran: others })).toMatchObject({ value: value! - 1, ok: false });
});

test("a figure is kept to its bar and to its number of cases, and is open if nobody measured it", () => {
  expect(lineOf("secrets-found")).toMatchObject({
    ok: undefined,
    detail: expect.stringContaining("not measured"),
  });
  const found = (value: number, of: number) =>
    lineOf("secrets-found", { reports: [{ name: "secrets-found", value, of }] });
  expect(found(0, 60)).toMatchObject({ value: 0, of: 60, ok: true });
  expect(found(0, 59)).toMatchObject({ ok: false });
  expect(found(1, 60)).toMatchObject({ ok: false });
  const load = (value: number) => [
    { bench: "faults", case: "x", system: "keyhole", metric: "added_p99", value, unit: "ms" },
  ];
  expect(lineOf("loop-delay", { load: [...load(3), ...load(49)] })).toMatchObject({ value: 49, ok: true });
  expect(lineOf("loop-delay", { load: load(51) })).toMatchObject({ ok: false });
  expect(lineOf("findings-tested", { load: load(51) })).toMatchObject({ ok: false });
});

test("a run of all tests prints the table, and one of some tests prints nothing", () => {
  const folder = temporaryFolder();
  const printed = vi.spyOn(console, "log").mockImplementation(() => {});
  const code = process.exitCode;
  onTestFinished(() => {
    printed.mockRestore();
    process.exitCode = code;
  });
  const end = (modules: number) => {
    const { onInit, onTestRunEnd } = createProofReporter(join(folder, "figures"));
    const tests = PASSED.map(({ title }) => ({ fullName: title, result: () => ({ state: "passed" }) }));
    const moduleOf = (ran: typeof tests) => ({ children: { allTests: () => ran } }) as unknown as TestModule;
    const others = Array<TestModule>(modules - 1).fill(moduleOf([]));
    onInit?.({} as Vitest);
    onTestRunEnd?.([moduleOf(tests), ...others], [], "passed");
  };
  end(1);
  expect(printed).not.toHaveBeenCalled();
  end(testFiles().length);
  expect(printed.mock.calls.flat().join("")).toMatch(/ok +faults-tested +(\d+) \(of \1\)/);
  expect(readdirSync(folder)).toEqual([]);
});
