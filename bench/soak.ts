// Load for some minutes: sessions open, ask, call, store large results, cancel and end, and a server crashes now and
// then. The growth of the heap after garbage collection, of descriptors and of timers shows what leaks.
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { createGateway, defineDomain, defineTool, type Gateway } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import type { Benchmark } from "./benchmark.ts";
import { heapMegabytes } from "./heap-megabytes.ts";

const MINUTES = 3;
const CLIENTS = 8;
const SAMPLES = 12;
/** The first samples are of caches that fill up. */
const WARM_UP = SAMPLES / 3;
const CHAOS = resolve("src/testing/chaos-upstream.ts");
const PRINCIPAL = { id: "soak", scopes: [], allowWrite: true };

interface Sample {
  readonly minute: number;
  readonly kilobytes: number;
  readonly descriptors: number;
  readonly timers: number;
}

export const benchmark: Benchmark = async ({ minutes = MINUTES }) => {
  const { samples, calls, idle } = await soak(minutes);
  const steady = samples.slice(WARM_UP);
  const row = (metric: string, value: number, unit: string) => ({
    bench: "soak",
    case: `${minutes} minutes`,
    system: "keyhole",
    metric,
    value,
    unit,
  });
  return [
    row("calls", calls, "calls"),
    row("memory_slope", slope(steady, "kilobytes"), "KB/minute"),
    row("descriptor_slope", slope(steady, "descriptors"), "per minute"),
    row("timer_slope", slope(steady, "timers"), "per minute"),
    row("descriptors_left", idle.after.descriptors - idle.before.descriptors, "descriptors"),
    row("timers_left", idle.after.timers - idle.before.timers, "timers"),
    row("memory_left", idle.after.kilobytes - steady[0]!.kilobytes, "KB"),
  ];
};

async function soak(minutes: number) {
  const before = await sampleAt(0);
  const source = createMcpSource(
    "chaos",
    { command: process.execPath, args: [CHAOS] },
    { trusted: true, limits: { restarts: Number.POSITIVE_INFINITY, backoffMs: 1 } },
  );
  const gateway = createGateway({
    domains: [domain()],
    sources: [source],
    principal: PRINCIPAL,
    learning: false,
  });
  await gateway.ready();
  const server = createMcpServer(gateway);
  const http = await serveHttp(server, { token: "t", limits: { ratePerSecond: 1e6, burst: 1e6 } });

  const started = performance.now();
  const minute = () => (performance.now() - started) / 60_000;
  let calls = 0;
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let turn = client; minute() < minutes; turn += 1) calls += await converse(gateway, http.url, turn);
  });
  const samples: Sample[] = [];
  for (let number = 1; number <= SAMPLES; number += 1) {
    const due = (number * minutes) / SAMPLES;
    await new Promise((done) => setTimeout(done, Math.max(0, due - minute()) * 60_000));
    samples.push(await sampleAt(minute()));
  }
  await Promise.all(clients);
  await http.close();
  await server.close();
  await gateway.close();
  return { samples, calls, idle: { before, after: await sampleAt(minute()) } };
}

/** One conversation; every few turns one of its calls is cancelled, or its server crashes. */
async function converse(gateway: Gateway, url: string, turn: number): Promise<number> {
  const session = await gateway.openSession();
  await gateway.ask({ query: `echo ${turn}`, session });
  await gateway.exec({ op: "echo.say", args: { text: `${turn}` }, session, idempotencyKey: `k${turn}` });
  await gateway.exec({ op: "echo.say", args: { text: "x".repeat(100_000) }, session });
  await gateway.exec({ op: "chaos.add", args: { turn }, session });
  if (turn % 5 === 0) {
    const signal = AbortSignal.timeout(5);
    await gateway.exec({ op: "chaos.hang", args: {}, session }, { signal });
  }
  if (turn % 97 === 0) await gateway.exec({ op: "chaos.crash", args: {}, session });
  await overHttp(url);
  await (await gateway.session(session)).end();
  return 5;
}

/** A session of the older protocol, opened and ended. */
async function overHttp(url: string): Promise<void> {
  const headers = {
    authorization: "Bearer t",
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  const clientInfo = { name: "soak", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const opened = await send(url, { method: "POST", headers, body });
  await opened.text();
  const session = opened.headers.get("mcp-session-id") ?? "";
  const ended = await send(url, { method: "DELETE", headers: { ...headers, "mcp-session-id": session } });
  await ended.text();
}

/** Sends again, as clients do, if the server has just closed the idle connection. */
function send(url: string, request: RequestInit): Promise<Response> {
  return fetch(url, request).catch(() => fetch(url, request));
}

function domain() {
  const say = defineTool({
    name: "get_echo",
    op: "echo.say",
    description: "Says it again.",
    execute: (args) => args,
  });
  return defineDomain({ name: "echo", description: "Echo.", tools: [say] });
}

async function sampleAt(minute: number): Promise<Sample> {
  const kilobytes = (await heapMegabytes()) * 1_024;
  return {
    minute,
    kilobytes,
    descriptors: readdirSync("/proc/self/fd").length,
    timers: process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
  };
}

/** The slope of the line of least squares. */
function slope(samples: readonly Sample[], of: Exclude<keyof Sample, "minute">): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = mean(samples.map(({ minute }) => minute));
  const level = mean(samples.map((sample) => sample[of]));
  const rise = samples.reduce((sum, sample) => sum + (sample.minute - middle) * (sample[of] - level), 0);
  const run = samples.reduce((sum, sample) => sum + (sample.minute - middle) ** 2, 0);
  return rise / run;
}
