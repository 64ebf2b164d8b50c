// The delay of the event loop while others misbehave: floods of notifications, unfinished connections, costly schemas.
// `added_p99` is the delay beyond that of an idle process in the same minute, which is the noise of the machine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate, setTimeout } from "node:timers/promises";
import { createGateway, defineDomain, defineTool, type Gateway, type JsonSchema } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import type { Benchmark, Row } from "./benchmark.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");
const PRINCIPAL = { id: "bench", scopes: [], allowWrite: true };
const FLOODS = ["progress", "log", "list", "update"];
const HALF_OPEN = 1_100;
const RUN_MS = 1_500;

export const benchmark: Benchmark = async () => {
  const gateway = createGateway({
    domains: [recursiveDomain()],
    sources: [
      createMcpSource("chaos", { command: process.execPath, args: [CHAOS] }, { trusted: true }),
      createMcpSource("deep", { command: process.execPath, args: [CHAOS, "deep"] }, { trusted: true }),
    ],
    principal: PRINCIPAL,
  });
  await warmUp(gateway);
  const loads: [name: string, load: () => Promise<unknown>][] = [
    ...FLOODS.map((kind): [string, () => Promise<unknown>] => [
      `flood of ${kind}`,
      () => gateway.exec({ op: "chaos.flood", args: { of: kind } }),
    ]),
    ["half-open connections", () => holdConnections(gateway)],
    ["recursive schema", () => callRecursive(gateway)],
    ["schema of 3,000 levels", () => gateway.exec({ op: "deep.deep", args: {} })],
  ];
  const rows: Row[] = [];
  for (const [name, load] of loads) {
    const idle = await measure(() => setTimeout(10));
    const busy = await measure(load);
    const row = (metric: string, value: number) => ({
      bench: "faults",
      case: name,
      system: "keyhole",
      metric,
      value,
      unit: "ms",
    });
    rows.push(row("idle_p99", idle.p99), row("delay_p99", busy.p99), row("delay_max", busy.max));
    rows.push(row("added_p99", Math.max(0, busy.p99 - idle.p99)));
  }
  await gateway.close();
  return rows;
};

async function warmUp(gateway: Gateway): Promise<void> {
  await gateway.ready();
  await gateway.exec({ op: "chaos.flood", args: { count: 500 } });
  await gateway.exec({ op: "lab.recursive", args: { a: {} } });
  await gateway.ask({ query: "flood" });
}

/** Runs a load for some time and measures how late the event loop is meanwhile, in milliseconds. */
async function measure(
  load: () => Promise<unknown>,
): Promise<{ readonly p99: number; readonly max: number }> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const started = performance.now();
  do {
    await load();
    await setImmediate();
  } while (performance.now() - started < RUN_MS);
  delay.disable();
  return { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 };
}

/** Lets another process hold unfinished connections while requests are answered. */
async function holdConnections(gateway: Gateway): Promise<void> {
  const server = createMcpServer(gateway);
  const http = await serveHttp(server, { token: "t" });
  const holder = spawn(process.execPath, ["-e", HOLD, new URL(http.url).port, `${HALF_OPEN}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(holder.stdout, "data");
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const headers = {
    authorization: "Bearer t",
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  for (let count = 0; count < 20; count += 1) {
    const answer = await fetch(http.url, { method: "POST", headers, body });
    await answer.text();
    if (answer.status !== 200)
      throw new Error(`A request got ${answer.status} beside unfinished connections.`);
  }
  holder.kill();
  await once(holder, "exit");
  await http.close();
  await server.close();
}

const HOLD = `
  const [port, count] = process.argv.slice(1).map(Number);
  let open = 0;
  for (let number = 0; number < count; number += 1) {
    const socket = require("node:net").connect(port, "127.0.0.1").on("error", () => {});
    socket.once("connect", () => {
      socket.write(number % 2 ? "POST /mcp HTTP/1.1\\r\\nhost: localhost\\r\\n" : "");
      if (++open === count) console.log("open");
    });
  }
  setInterval(() => {}, 1000);
`;

function recursiveDomain() {
  const branch = { type: "object", properties: { a: { $ref: "#/$defs/node" } }, required: ["b"] };
  const inputSchema: JsonSchema = {
    type: "object",
    properties: { a: { $ref: "#/$defs/node" } },
    $defs: { node: { anyOf: [branch, branch, branch] } },
  };
  const recursive = defineTool({
    name: "recursive",
    op: "lab.recursive",
    description: "Has a recursive schema.",
    inputSchema,
    execute: () => "done",
  });
  return defineDomain({ name: "lab", description: "For measurements.", tools: [recursive] });
}

async function callRecursive(gateway: Gateway): Promise<void> {
  const nested = JSON.parse(`${'{"a":'.repeat(60)}{}${"}".repeat(60)}`);
  await gateway.exec({ op: "lab.recursive", args: nested });
}
