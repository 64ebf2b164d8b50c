// A process that runs scripts and prints how much memory it has ever had: node script-memory.ts TIMES CODE
import { readFileSync } from "node:fs";
import { createSandbox } from "../../src/core/sandbox/create-sandbox.ts";
import { createRunner } from "../sandbox-kit.ts";

const [times, code] = process.argv.slice(2) as [string, string];
const sandbox = createSandbox();
const { run } = createRunner(sandbox);
const limits = { memoryBytes: 64 * 1024 * 1024, chars: 8 * 1024 * 1024, computeMs: 10_000 };
/** The first script starts the threads. */
await run("return 1", { limits });
const before = residentPeak();
const ends: string[] = [];
for (let time = 0; time < Number(times); time++) {
  const { end } = await run(code, { limits });
  ends.push(end.end === "stopped" ? end.why : end.end);
}
console.log(JSON.stringify({ megabytes: residentPeak() - before, ends }));
await sandbox.close();

function residentPeak(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}
