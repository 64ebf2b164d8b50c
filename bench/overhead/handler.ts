import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { z } from "zod";
import type { Row } from "../benchmark.ts";
import { percentile } from "../percentile.ts";
import { REQUEST_META } from "./request-meta.ts";

const ROUNDS = 6;
const REQUESTS = 400;
const CONCURRENCY = 8;

interface System {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  /** Name and arguments of the tool call. */
  readonly call: { readonly name: string; readonly arguments: object };
  close(): Promise<void>;
}

/**
 * The same tool behind the SDK's own handler and behind Keyhole, in turns, over HTTP on loopback and all in
 * one process. `handler-call` runs the tool, `handler-list` lists the tools.
 */
export async function compareHandlers(): Promise<Row[]> {
  const systems = [await bareSdk(), await keyhole("native"), await keyhole("lanes")];
  const samples = new Map<string, number[]>();
  for (const kind of ["list", "call"] as const) {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const system of systems) {
        const { seconds, times } = await load(system, kind);
        // The first round warms up.
        if (round === 0) continue;
        add(samples, `${kind} ${system.name} rate`, REQUESTS / seconds);
        add(samples, `${kind} ${system.name} p50`, median(times));
      }
    }
  }
  for (const system of systems) await system.close();
  return ["list", "call"].flatMap((kind) => systems.flatMap(({ name }) => toRows(kind, name, samples)));
}

function toRows(kind: string, system: string, samples: ReadonlyMap<string, readonly number[]>): Row[] {
  const of = (name: string, what: string) => median(samples.get(`${kind} ${name} ${what}`) ?? []);
  const row = (metric: string, value: number, unit: string) => ({
    bench: "overhead",
    case: `handler-${kind}`,
    system,
    metric,
    value,
    unit,
  });
  return [
    row("rate", of(system, "rate"), "requests/s"),
    row("p50", of(system, "p50"), "ms"),
    row("added_p50", of(system, "p50") - of("bare-sdk", "p50"), "ms"),
    row("throughput_ratio", of(system, "rate") / of("bare-sdk", "rate"), "x"),
  ];
}

async function bareSdk(): Promise<System> {
  const tool = {
    name: "echo",
    inputSchema: { type: "object" as const, properties: { text: { type: "string" } } },
  };
  const handler = createMcpHandler(() => {
    const server = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", async () => ({ tools: [tool] }));
    server.setRequestHandler("tools/call", async ({ params }) => ({
      content: [{ type: "text", text: String(params.arguments?.text) }],
    }));
    return server;
  });
  const http = createServer(toNodeHandler(handler));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    name: "bare-sdk",
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    token: "",
    call: { name: "echo", arguments: { text: "hello" } },
    close: async () => {
      await handler.close();
      http.closeAllConnections();
      http.close();
    },
  };
}

async function keyhole(surface: "native" | "lanes"): Promise<System> {
  const echo = defineTool({
    name: "get_echo",
    op: "echo.say",
    description: "Says it again.",
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }) => text,
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "echo", description: "Echo.", tools: [echo] })],
  });
  const server = createMcpServer(gateway, { surface });
  const http = await serveHttp(server, { limits: { ratePerSecond: 1e6, burst: 1e6 } });
  const call =
    surface === "native"
      ? { name: "echo_say", arguments: { text: "hello" } }
      : { name: "exec", arguments: { op: "echo.say", args: { text: "hello" } } };
  return {
    name: `keyhole-${surface}`,
    url: http.url,
    token: http.token ?? "",
    call,
    close: async () => {
      await http.close();
      await server.close();
      await gateway.close();
    },
  };
}

async function load({ url, token, call }: System, kind: "list" | "call") {
  const method = kind === "list" ? "tools/list" : "tools/call";
  const params = { ...(kind === "call" && call), _meta: REQUEST_META };
  const request = {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(kind === "call" && { "mcp-name": call.name }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  };
  const times: number[] = [];
  const started = performance.now();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (let count = 0; count < REQUESTS / CONCURRENCY; count++) {
        const sent = performance.now();
        const text = await (await fetch(url, request)).text();
        if (!text.includes(kind === "list" ? '"tools"' : "hello")) throw new Error(text);
        times.push(performance.now() - sent);
      }
    }),
  );
  return { seconds: (performance.now() - started) / 1000, times };
}

function add(samples: Map<string, number[]>, key: string, value: number): void {
  samples.set(key, [...(samples.get(key) ?? []), value]);
}

function median(values: readonly number[]): number {
  return percentile(values, 50);
}
