import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const SECONDS = 6;
/** Collecting garbage takes long on a busy machine. */
const TIMEOUT_MS = 400_000;
const MOST_KILOBYTES = 32 * 1_024;

test("leak: load leaves no descriptors, timers or growing memory behind", {
  timeout: TIMEOUT_MS,
}, async () => {
  const args = ["bench/run.ts", "soak", "--json", "--minutes", String(SECONDS / 60)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const rows: { metric: string; value: number }[] = JSON.parse(stdout);
  const value = (metric: string) => rows.find((row) => row.metric === metric)?.value;
  expect(value("calls")).toBeGreaterThan(0);
  expect(value("descriptors_left")).toBeLessThanOrEqual(2);
  expect(value("timers_left")).toBeLessThanOrEqual(2);
  expect(value("memory_left")).toBeLessThan(MOST_KILOBYTES);
});
