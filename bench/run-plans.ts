// Tasks by one script, by one call after the other, by batch, and with all tools listed; and what a script costs.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createGateway, type Gateway } from "keyhole";
import { fromMcpConfig } from "keyhole/sources";
import { createCms } from "../examples/cms/cms.ts";
import { createOnto } from "../examples/onto/onto.ts";
import { loadTokenCounter, type TokenCounter } from "../src/util/tokens.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { percentile } from "./percentile.ts";
import { TASKS } from "./run-plans/tasks.ts";

const WARM = 20;
const ROUNDS = 200;
const AT_ONCE = 100;

export const benchmark: Benchmark = async () => {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-bench-"));
  const gateway = openGateway(folder);
  try {
    const view = await gateway.view();
    const opOf = (end: string) => view.entries.find(({ name }) => name === end)?.op ?? end;
    const params = { folder, remember: opOf("create_entities"), recall: opOf("search_nodes") };
    const countTokens = await loadTokenCounter();
    const rows: Row[] = [];
    for (const { name, code } of TASKS)
      rows.push(
        ...(await taskRows(
          gateway,
          { name, code: code.replaceAll("files.text.file.read", opOf("read_text_file")) },
          params,
          countTokens,
        )),
      );
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

async function taskRows(
  gateway: Gateway,
  { name, code }: { readonly name: string; readonly code: string },
  params: Record<string, unknown>,
  countTokens: TokenCounter,
): Promise<Row[]> {
  const singly = await callSingly(gateway, code, params, countTokens);
  const request = { code, params };
  const ran = await gateway.run(request);
  if (!ran.ok) throw new Error(`${name}: ${ran.text}`);
  const script = { tokens: countTokens(JSON.stringify(request)) + countTokens(ran.text), trips: 1 };
  const listed = Object.values(gateway.registry().ops);
  const listing = countTokens(
    JSON.stringify(
      listed.map(({ op, description, parameters_schema }) => [op, description, parameters_schema]),
    ),
  );
  const systems: Record<string, Talk> = {
    run: script,
    "exec one by one": singly,
    batch: { tokens: singly.tokens, trips: singly.waves },
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

/** Does the task of a script by calls of their own. Calls that do not wait for each other are one wave. */
async function callSingly(
  gateway: Gateway,
  code: string,
  params: Record<string, unknown>,
  countTokens: TokenCounter,
): Promise<Talk & { readonly waves: number }> {
  let tokens = 0;
  let trips = 0;
  let waves = 0;
  let open = 0;
  const call = async (op: string, args: Record<string, unknown> = {}) => {
    trips += 1;
    if (open++ === 0) waves += 1;
    const answer = await gateway.exec({ op, args });
    open -= 1;
    tokens += countTokens(JSON.stringify({ op, args })) + countTokens(answer.text);
    if (!answer.ok) throw new Error(answer.text);
    if (!answer.meta.stored) return answer.result;
    const whole = await gateway.exec({ op, args }, { limits: { resultTokens: Number.POSITIVE_INFINITY } });
    return whole.ok ? whole.result : undefined;
  };
  const path = (segments: readonly string[]): unknown =>
    new Proxy(() => {}, {
      get: (_, key) => path([...segments, String(key)]),
      apply: (_, __, [args]) => call(segments.join("."), args),
    });
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  await new AsyncFunction("tools", "call", "params", code)(path([]), call, params);
  return { tokens, trips, waves };
}

/** The time that a script adds to its calls, many scripts at once, and the delay of the event loop meanwhile. */
async function costRows(gateway: Gateway): Promise<Row[]> {
  const op = "onto.project.list";
  const one = `return (await call("${op}")).total`;
  const many = `for (let i = 0; i < 101; i++) await call("${op}");`;
  const exec = await timeOf(() => gateway.exec({ op, args: {} }));
  const single = await timeOf(() => gateway.run({ code: one }));
  const hundred = await timeOf(() => gateway.run({ code: many }), ROUNDS / 20);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const started = performance.now();
  await Promise.all([
    ...Array.from({ length: AT_ONCE }, () => gateway.run({ code: one })),
    ...Array.from({ length: 4 }, () => gateway.run({ code: "for (;;) {}", timeoutMs: 1_000 })),
  ]);
  const took = performance.now() - started;
  delay.disable();
  const row = (metric: string, value: number): Row => ({
    ...{ bench: "run", case: "cost", system: "run", metric, value, unit: "ms" },
  });
  return [
    row("one_call_over_exec_p50", single - exec),
    row("each_further_call_over_exec", (hundred - single) / 100 - exec),
    row("hundred_scripts_beside_four_loops", took),
    row("event_loop_delay_p99", delay.percentile(99) / 1e6),
  ];
}

async function timeOf(work: () => Promise<unknown>, rounds = ROUNDS): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < WARM + rounds; round++) {
    const started = performance.now();
    await work();
    if (round >= WARM) times.push(performance.now() - started);
  }
  return percentile(times, 50);
}
