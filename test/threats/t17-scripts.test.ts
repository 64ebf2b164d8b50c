import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../src/core/sandbox/create-sandbox.ts";
import type { ScriptAnswer } from "../../src/core/sandbox/sandbox.ts";
import { createRunner, SCRIPT_LIMITS } from "../sandbox-kit.ts";

const execute = promisify(execFile);

/** What scripts of 64 MiB add to the memory of a process of their own. */
async function memoryOf(code: string, times = 1): Promise<{ megabytes: number; ends: string[] }> {
  const { stdout } = await execute(process.execPath, [
    resolve("test/threats/script-memory.ts"),
    String(times),
    code,
  ]);
  return JSON.parse(stdout);
}

describe.skipIf(process.platform !== "linux")("the memory of scripts", () => {
  /** Its own 64 MiB, and what a thread needs. */
  const MOST_MEGABYTES = 160;
  /** Beside it, texts of 20 megabytes that leave the engine, some of them waiting to be collected. */
  const MOST_WITH_TEXTS = 300;

  test.each([
    ["buffers", "const a = []; for (;;) a.push(new ArrayBuffer(2 ** 20))"],
    ["typed arrays", "const a = []; for (;;) a.push(new Uint8Array(3 * 2 ** 20).fill(1))"],
    ["texts", "const a = []; for (let i = 0; ; i++) a.push((i + 'x').repeat(2 ** 18))"],
    ["arrays", "const a = []; for (let i = 0; ; i++) a.push(new Array(1e5).fill(i))"],
    ["objects", "const a = []; for (let i = 0; ; i++) a.push({ i, j: { k: i } })"],
    ["a map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })"],
    ["big numbers", "let a = []; for (;;) a.push((1n << 900000n) + BigInt(a.length))"],
    ["functions", "const a = []; for (let i = 0; ; i++) a.push(new Function('return ' + i))"],
    ["a text of JSON", "let a = [1]; for (;;) a = JSON.parse(JSON.stringify([a, a]))"],
    ["promises", "const a = []; for (;;) a.push(new Promise(() => {}))"],
  ])("T17: a script that fills its memory with %s gets 64 MiB and is ended", async (_, code) => {
    const { megabytes, ends } = await memoryOf(code);
    expect(megabytes).toBeLessThan(MOST_MEGABYTES);
    // A busy machine may use up its time first.
    expect(["memory", "compute"]).toContain(ends[0]);
  });

  test("T17: a script that catches the end of its memory gets no more of it", async () => {
    const code =
      "const a = []; for (let i = 0; i < 1e4; i++) try { a.push(new ArrayBuffer(2 ** 20)) } catch {} return a.length";
    const { megabytes, ends } = await memoryOf(code);
    expect(megabytes).toBeLessThan(MOST_MEGABYTES);
    expect(ends).toEqual(["returned"]);
  });

  test.each([
    ["logs", "const s = 'x'.repeat(2e7); for (let i = 0; i < 100; i++) log(s)"],
    [
      "arguments",
      "const s = 'x'.repeat(2e7); for (let i = 0; i < 20; i++) try { await call('x', { s }) } catch {}",
    ],
    ["errors", "throw new Error('x'.repeat(3e7))"],
    ["values", "return 'x'.repeat(3e7)"],
  ])("T17: long %s of a script take no memory outside of it", async (_, code) => {
    expect((await memoryOf(code)).megabytes).toBeLessThan(MOST_WITH_TEXTS);
  });

  test("T17: scripts that fill their memory one after the other take that of one", async () => {
    const { megabytes } = await memoryOf("const a = []; for (;;) a.push(new ArrayBuffer(2 ** 20))", 12);
    expect(megabytes).toBeLessThan(2 * MOST_MEGABYTES);
  });
});

describe("the threads of scripts", () => {
  const { signal } = new AbortController();
  const script = (code: string) =>
    ({ code, now: 0, seed: [1, 2, 3, 4], params: "null", limits: SCRIPT_LIMITS }) as const;
  /** A host that never answers: its scripts keep their threads. */
  const silent = { request: () => {} };
  const answering = {
    request: (_: unknown, __: number, answer: (answer: ScriptAnswer) => void) =>
      answer({ ok: true, value: 1 }),
  };

  function openSandbox() {
    const sandbox = createSandbox();
    const leave = new AbortController();
    onTestFinished(async () => {
      leave.abort();
      await sandbox.close();
    });
    /** Scripts that hold their threads until the test ends. */
    const hold = (owner: string, count: number, signal = leave.signal) =>
      Array.from({ length: count }, () =>
        sandbox.run(script("return call('x')"), silent, { signal, owner }).catch((error) => error),
      );
    const runAs = (owner: string, code = "return call('x')") =>
      sandbox.run(script(code), answering, { signal, owner });
    return { sandbox, hold, runAs };
  }

  test.each([1, 2, 3])(
    "T17: %d callers who keep all threads that they get leave one for the next caller",
    async (callers) => {
      const { hold, runAs } = openSandbox();
      for (let caller = 0; caller < callers; caller++) hold(`greedy ${caller}`, 200);
      expect((await runAs("me")).end).toEqual({ end: "returned", json: "1" });
    },
  );

  test("T17: a caller who fills the queue takes no place of others in it", async () => {
    const { hold, runAs } = openSandbox();
    const refused = await Promise.race(hold("greedy", 3_000));
    expect(refused).toMatchObject({ code: "LIMIT_EXCEEDED" });
    expect((await runAs("me")).end).toEqual({ end: "returned", json: "1" });
  });

  test("T17: a thread that becomes free goes to the caller who has none, although others came first", async () => {
    const { hold, runAs } = openSandbox();
    const leaves = new AbortController();
    const [first] = hold("greedy 0", 1, leaves.signal);
    for (let caller = 0; caller < 4; caller++) hold(`greedy ${caller}`, 100);
    const mine = runAs("me");
    leaves.abort();
    await first;
    expect((await mine).end).toEqual({ end: "returned", json: "1" });
  });

  test("T17: a caller who leaves while its scripts wait gives up their places", async () => {
    const { hold } = openSandbox();
    const gone = new AbortController();
    hold("greedy", 100);
    const waiting = hold("greedy", 400, gone.signal);
    gone.abort();
    const cancelled = { end: { end: "stopped", why: "cancelled" } };
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => expect.objectContaining(cancelled)));
  });
});

describe("the parser of types", () => {
  const sandbox = createSandbox();
  afterAll(() => sandbox.close());
  const { run, returned } = createRunner(sandbox);
  const TYPED = "const one: number = 1; return one as unknown";

  test.each([
    ["brackets", `${"(".repeat(5_000)}1${")".repeat(5_000)}`],
    ["lists", `return ${"[".repeat(20_000)}${"]".repeat(20_000)}`],
    ["a sum", `return ${Array(20_000).fill("1").join("+")}`],
    ["types", `let x: ${"Array<".repeat(5_000)}number${">".repeat(5_000)}`],
    ["blocks", `${"{".repeat(20_000)}${"}".repeat(20_000)}`],
    ["templates", `return ${"`${".repeat(5_000)}1${"}`".repeat(5_000)}`],
  ])("T17: a script whose %s crash it harms no later script", async (_, code) => {
    await Promise.all(Array.from({ length: 8 }, () => run(code)));
    for (let time = 0; time < 8; time++) expect(await returned(TYPED)).toBe(1);
  });

  test("a script in plain JavaScript runs although it crashed", async () => {
    const sum = Array(5_000).fill("1").join("+");
    const { end } = await run(`return ${sum}`);
    expect(end).toMatchObject({ end: "returned", json: "5000" });
  });
});
