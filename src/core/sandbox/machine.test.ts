import { expect, test } from "vitest";
import { createMachine } from "./machine.ts";
import type { FromWorker, ScriptEnd, ScriptLimits } from "./sandbox.ts";

const LIMITS: ScriptLimits = {
  timeMs: 60_000,
  computeMs: 60_000,
  memoryBytes: 32 * 1024 * 1024,
  stackBytes: 256 * 1024,
  requests: 100,
  chars: 1_000_000,
};

/** Runs scripts in one machine, in this thread: nothing else could end them. */
async function runAll(
  scripts: readonly { readonly code: string; readonly limits?: Partial<ScriptLimits> }[],
): Promise<ScriptEnd[]> {
  const ends: ScriptEnd[] = [];
  const result = JSON.stringify("x".repeat(100_000));
  const requests: number[] = [];
  let made = 0;
  const machine = await createMachine((message: FromWorker) => {
    if (typeof message === "string") requests.push(++made);
    else if (message.type === "end") ends.push(message.outcome);
  });
  for (const { code, limits } of scripts) {
    const script = {
      code,
      now: 0,
      seed: [1, 2, 3, 4],
      params: "null",
      limits: { ...LIMITS, ...limits },
    } as const;
    made = 0;
    await machine.start(script, new Int32Array(new SharedArrayBuffer(4)));
    for (let next = requests.shift(); next; next = requests.shift()) machine.answer(`[${next},"",${result}]`);
  }
  return ends;
}

test("a machine ends a loop by itself, the first time and after other scripts", async () => {
  const stopped = { end: "stopped", why: "compute" };
  const returned = { end: "returned", json: "1" };
  const loop = { code: "for (;;) {}", limits: { computeMs: 100 } };
  const one = { code: "return 1" };
  expect(await runAll([loop, one, loop, one, one, loop])).toEqual([
    ...[stopped, returned, stopped, returned, returned, stopped],
  ]);
});

test("a script may read more in all than fits into its memory at once", async () => {
  const code = "let size = 0; for (let i = 0; i < 100; i++) size += (await call('x')).length; return size";
  const limits = { memoryBytes: 4 * 1024 * 1024 };
  expect(await runAll([{ code, limits }])).toEqual([{ end: "returned", json: "10000000" }]);
});
