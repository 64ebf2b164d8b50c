// Tasks by one script, by one call after the other, by batch, and with all tools listed; and what a script costs.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate, setTimeout } from "node:timers/promises";
import { createGateway, type Gateway } from "keyhole";
import { fromMcpConfig } from "keyhole/sources";
import { createCms } from "../examples/cms/cms.ts";
import { createOnto } from "../examples/onto/onto.ts";
import { loadTokenCounter, type TokenCounter } from "../src/base/tokens/tokens.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { percentile } from "./percentile.ts";
import { SERVER_TOOLS, TASKS } from "./run-plans/tasks.ts";

const WARM = 10;
const ROUNDS = 100;
const AT_ONCE = 100;
const FURTHER = 100;
const LOOPS = 4;
const LOOP_MS = 1_000;
const QUIET_MS = 1_000;

export const benchmark: Benchmark = async () => {
  // Paths are part of what is counted, so the folder has the same name in every run.
  const folder = join(tmpdir(), "keyhole-bench-run");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const gateway = openGateway(folder);
  try {
    const view = await gateway.view();
    const opOf = (tool: string) => view.entries.find(({ name }) => name === tool)?.op ?? tool;
    const countTokens = await loadTokenCounter();
    const rows: Row[] = [];
    for (const { name, code: given } of TASKS) {
      const code = Object.entries(SERVER_TOOLS).reduce(
        (text, [spelt, tool]) => text.replaceAll(`"${spelt}"`, `"${opOf(tool)}"`),
        given,
      );
      const params = code.includes("params.") ? { folder } : undefined;
      rows.push(...(await taskRows(gateway, { name, code, params }, countTokens)));
    }
    return [...rows, ...(await costRows(gateway))];
  } finally {
    await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

function openGateway(folder: string): Gateway {
  for (let at = 0; at < 8; at++)
    writeFileSync(
      join(folder, `note-${at}.txt`),
      `Note ${at}. Ship on ${at % 2 ? "Friday" : "Monday"}.\n`.repeat(20),
    );
  const sources = fromMcpConfig(
    {
      mcpServers: {
        files: server("server-filesystem", folder),
        memory: { ...server("server-memory"), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
      },
    },
    { trusted: true },
  );
  const domains = [...createOnto().domains, createCms().domain];
  const principal = { id: "bench", scopes: [], allowWrite: true };
  return createGateway({ domains, sources, principal });
}

function server(name: string, ...args: string[]) {
  const manifest = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/package.json`);
  return { command: process.execPath, args: [join(dirname(manifest), "dist/index.js"), ...args] };
}

interface Talk {
  /** Tokens of all requests and answers. */
  readonly tokens: number;
  readonly trips: number;
}

interface Work {
  readonly name: string;
  readonly code: string;
  readonly params: Record<string, unknown> | undefined;
}

async function taskRows(gateway: Gateway, work: Work, countTokens: TokenCounter): Promise<Row[]> {
  const { name, code, params } = work;
  const singly = await callSingly(gateway, work, countTokens);
  const together = await callInBatches(gateway, work, countTokens);
  const request = { code, ...(params && { params }) };
  const ran = await gateway.run(request);
  if (!ran.ok) throw new Error(`${name}: ${ran.text}`);
  const script = { tokens: countTokens(JSON.stringify(request)) + countTokens(ran.text), trips: 1 };
  const listed = Object.values((await gateway.report()).registry.ops);
  const listing = countTokens(
    JSON.stringify(
      listed.map(({ op, description, parameters_schema }) => [op, description, parameters_schema]),
    ),
  );
  const systems: Record<string, Talk> = {
    run: script,
    "exec one by one": singly,
    batch: together,
    "all tools listed": { tokens: singly.tokens + listing, trips: singly.trips },
  };
  const row = (system: string, metric: string, value: number, unit: string): Row => ({
    ...{ bench: "run", case: `${name} (${singly.trips} calls)`, system, metric, value, unit },
  });
  return [
    ...Object.entries(systems).flatMap(([system, { tokens, trips }]) => [
      row(system, "tokens", tokens, "tokens"),
      row(system, "round_trips", trips, "trips"),
    ]),
    row("run", "tokens_saved", 1 - script.tokens / singly.tokens, "share"),
  ];
}

type Call = (op: string, args?: Record<string, unknown>) => Promise<unknown>;

/** Does the task of a script outside the sandbox, with these calls. */
async function work({ code, params }: Work, call: Call): Promise<void> {
  const path = (segments: readonly string[]): unknown =>
    new Proxy(() => {}, {
      get: (_, key) => path([...segments, String(key)]),
      apply: (_, __, [args]) => call(segments.join("."), args),
    });
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  await new AsyncFunction("tools", "call", "params", code)(path([]), call, params);
}

/** Scripts work on whole results. A model that gets a preview would have to read on, which is not counted. */
async function wholeResult(gateway: Gateway, op: string, args: Record<string, unknown>): Promise<unknown> {
  const whole = await gateway.exec({ op, args }, { limits: { resultTokens: Number.POSITIVE_INFINITY } });
  if (!whole.ok) throw new Error(whole.text);
  return whole.result;
}

async function callSingly(gateway: Gateway, task: Work, countTokens: TokenCounter): Promise<Talk> {
  let tokens = 0;
  let trips = 0;
  await work(task, async (op, args = {}) => {
    trips += 1;
    const answer = await gateway.exec({ op, args });
    tokens += countTokens(JSON.stringify({ op, args })) + countTokens(answer.text);
    if (!answer.ok) throw new Error(answer.text);
    return answer.meta.stored ? wholeResult(gateway, op, args) : answer.result;
  });
  return { tokens, trips };
}

/** Calls that do not wait for each other are one batch. */
async function callInBatches(gateway: Gateway, task: Work, countTokens: TokenCounter): Promise<Talk> {
  let tokens = 0;
  let trips = 0;
  let waiting: { op: string; args: Record<string, unknown>; settle(result: unknown): void }[] = [];
  const flush = async () => {
    const calls = waiting;
    waiting = [];
    trips += 1;
    const request = { requests: calls.map(({ op, args }) => ({ exec: { op, args } })) };
    const answer = await gateway.batch(request);
    tokens += countTokens(JSON.stringify(request)) + countTokens(answer.text);
    for (const [at, { op, args, settle }] of calls.entries()) {
      const result = answer.results[at];
      const one = result && "exec" in result ? result.exec : undefined;
      if (!one?.ok) throw new Error(answer.text);
      settle(one.meta.stored ? wholeResult(gateway, op, args) : one.result);
    }
  };
  await work(task, (op, args = {}) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    if (waiting.length === 0) void setImmediate().then(flush);
    waiting.push({ op, args, settle: resolve });
    return promise;
  });
  return { tokens, trips };
}

/** The time that a script adds to its calls, many scripts at once, and the delay of the event loop meanwhile. */
async function costRows(gateway: Gateway): Promise<Row[]> {
  const op = "onto.project.list";
  const one = `return (await call("${op}")).total`;
  const many = `for (let i = 0; i < ${1 + FURTHER}; i++) await call("${op}");`;
  const exec = () => gateway.exec({ op, args: {} });
  const measured = await measureInTurns(
    [
      exec,
      () => gateway.run({ code: one }),
      () => gateway.run({ code: many }),
      async () => {
        for (let i = 0; i < FURTHER; i++) await exec();
      },
    ],
    ROUNDS,
  );
  const quiet = await delayDuring(() => setTimeout(QUIET_MS));
  const alone = await delayDuring(() => runMany(gateway, one, 0));
  const beside = await delayDuring(() => runMany(gateway, one, LOOPS));
  const row = (metric: string, value: number): Row => ({
    ...{ bench: "run", case: "cost", system: "run", metric, value, unit: "ms" },
  });
  return [
    ...Object.entries(MEASURES).flatMap(([name, measure]) => {
      const [single, script, further, furtherExec] = measured.map(measure);
      return [
        row(`exec_${name}`, single!),
        row(`one_call_over_exec_${name}`, script! - single!),
        row(`each_further_call_over_exec_${name}`, (further! - script! - furtherExec!) / FURTHER),
      ];
    }),
    row("hundred_scripts", alone.tookMs),
    row("hundred_scripts_beside_four_loops", beside.tookMs),
    row("event_loop_delay_p99_idle", quiet.delayMs),
    row("event_loop_delay_p99_hundred_scripts", alone.delayMs),
    row("event_loop_delay_p99_beside_four_loops", beside.delayMs),
  ];
}

async function runMany(gateway: Gateway, code: string, loops: number): Promise<void> {
  const answers = await Promise.all([
    ...Array.from({ length: AT_ONCE }, () => gateway.run({ code })),
    ...Array.from({ length: loops }, () => gateway.run({ code: "for (;;) {}", timeoutMs: LOOP_MS })),
  ]);
  const failed = answers.slice(0, AT_ONCE).find(({ ok }) => !ok);
  if (failed) throw new Error(failed.text);
}

async function delayDuring(run: () => Promise<unknown>): Promise<{ tookMs: number; delayMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const started = performance.now();
  await run();
  const tookMs = performance.now() - started;
  delay.disable();
  return { tookMs, delayMs: delay.percentile(99) / 1e6 };
}

interface Measured {
  readonly times: readonly number[];
  /** Processor time of all threads, each round. A busy machine does not change it. */
  readonly cpuMs: number;
}

const MEASURES: Readonly<Record<string, (measured: Measured) => number>> = {
  p50: ({ times }) => percentile(times, 50),
  p10: ({ times }) => percentile(times, 10),
  cpu: ({ cpuMs }) => cpuMs,
};

/** Measures several works in turns, so that a busy machine slows all of them. */
async function measureInTurns(
  works: readonly (() => Promise<unknown>)[],
  rounds: number,
): Promise<readonly Measured[]> {
  const times = works.map(() => [] as number[]);
  const used = works.map(() => 0);
  for (let round = 0; round < WARM + rounds; round++) {
    for (const [at, run] of works.entries()) {
      const cpu = process.cpuUsage();
      const started = performance.now();
      await run();
      const took = performance.now() - started;
      // Work that the gateway does after it has answered belongs to this call, and delays no one's time.
      await setImmediate();
      const { user, system } = process.cpuUsage(cpu);
      if (round < WARM) continue;
      times[at]!.push(took);
      used[at]! += (user + system) / 1_000;
    }
  }
  return works.map((_, at) => ({ times: times[at]!, cpuMs: used[at]! / rounds }));
}
