// npm run verify: runs the tests with more repetitions, prints every claim with its tests, and compares what load leaves
// behind with its limits. Options: --minutes N of load, --soak for the load alone, --team [--calls N] for the proof of
// several replicas alone.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import type { Row } from "../bench/benchmark.ts";
import { MEASURING } from "../test/is-measuring.ts";

/** The limits of load, by benchmark and metric. */
const LIMITS: readonly (readonly [bench: string, metric: string, atMost: number, says: string])[] = [
  ["soak", "memory_slope", 1_024, "growth of the heap under load"],
  ["soak", "descriptors_left", 2, "descriptors left after load"],
  ["soak", "timers_left", 2, "timers left after load"],
  ["faults", "added_p99", 50, "delay of the event loop under floods, p99 beyond an idle one"],
];
/** Tests repeat more here than elsewhere, and the machine may be busy. */
const TIMEOUT_MS = 900_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "3" },
    soak: { type: "boolean", default: false },
    team: { type: "boolean", default: false },
    calls: { type: "string", default: "10000" },
  },
});

if (values.team) {
  process.env.KEYHOLE_TEAM_CALLS = values.calls;
  // One file proves one claim: the table of all claims would call the others unproven.
  await runTests("test/team/killing.test.ts", "--reporter=default");
  process.exit();
}

// The soak does not depend on what else runs. The delays of floods do, so they are measured last.
const soaking = bench("soak", "--minutes", values.minutes);
if (!values.soak) await runTests();
print([...(await soaking), ...(values.soak ? [] : await bench("faults"))]);

async function runTests(...words: readonly string[]): Promise<void> {
  const limits = ["--testTimeout", "--hookTimeout"].map((limit) => `${limit}=${TIMEOUT_MS}`);
  const env = { ...process.env, [MEASURING]: "1" };
  const tests = spawn("node_modules/.bin/vitest", ["run", ...words, ...limits], { env, stdio: "inherit" });
  if ((await exitOf(tests)) !== 0) process.exitCode = 1;
}

async function bench(...args: string[]): Promise<Row[]> {
  const child = spawn(process.execPath, ["bench/run.ts", ...args, "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [stdout, code] = await Promise.all([text(child.stdout), exitOf(child)]);
  if (code === 0) return JSON.parse(stdout);
  console.error(`The benchmark ${args[0]} failed.`);
  process.exitCode = 1;
  return [];
}

/** Waits for the end of a program, and ends it with this one. */
function exitOf(child: ReturnType<typeof spawn>): Promise<number | null> {
  const stop = () => child.kill();
  process.once("exit", stop);
  return new Promise((resolve, reject) =>
    child.once("error", reject).once("close", (code) => {
      process.off("exit", stop);
      resolve(code);
    }),
  );
}

/** Prints the worst value of each metric beside its limit. A metric without a value is a failure. */
function print(rows: readonly Row[]): void {
  for (const [bench, metric, atMost, says] of LIMITS) {
    if (values.soak && bench !== "soak") continue;
    const measured = rows.filter((row) => row.bench === bench && row.metric === metric);
    const worst = measured.length > 0 ? Math.max(...measured.map(({ value }) => value)) : Number.NaN;
    const isKept = worst <= atMost;
    if (!isKept) process.exitCode = 1;
    const unit = measured[0]?.unit ?? "";
    console.log(`${isKept ? "ok    " : "FAILED"} ${says}: ${worst.toFixed(1)} ${unit} (at most ${atMost})`);
  }
}
