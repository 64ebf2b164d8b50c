import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { createMcpServer } from "keyhole/mcp";
import { afterEach, describe, expect } from "vitest";
import { z } from "zod";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { verifies } from "./claims.ts";
import { connect } from "./mcp/connect.ts";
import { eventually, gatewayOf } from "./upstream-kit.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

function createTools(): McpServer {
  const server = new McpServer({ name: "web", version: "1.0.0" });
  const inputSchema = z.object({ who: z.string() });
  const answer = (verb: string) => (args: { who: string }) => ({
    content: [{ type: "text" as const, text: `${verb} ${args.who}` }],
  });
  server.registerTool(
    "greet",
    { description: "Greets.", inputSchema, annotations: { readOnlyHint: true } },
    answer("Hello"),
  );
  server.registerTool("write", { description: "Writes.", inputSchema }, answer("Wrote"));
  return server;
}

/** Servers of both protocols; the older protocol has sessions. */
const HANDLERS = {
  modern: () => {
    const handler = createMcpHandler(createTools, { legacy: "reject" });
    return { handle: (request: Request) => handler.fetch(request), forget: () => {} };
  },
  legacy: () => {
    const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
    const handle = async (request: Request): Promise<Response> => {
      const id = request.headers.get("mcp-session-id");
      const known = id === null ? undefined : sessions.get(id);
      if (known) return known.handleRequest(request);
      if (id !== null) return new Response("Session not found", { status: 404 });
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (given) => void sessions.set(given, transport),
      });
      await createTools().connect(transport);
      return transport.handleRequest(request);
    };
    return { handle, forget: () => sessions.clear() };
  },
};
const PROTOCOLS = ["modern", "legacy"] as const;

async function serve(protocol: (typeof PROTOCOLS)[number]) {
  const { handle, forget } = HANDLERS[protocol]();
  const calls: string[] = [];
  const used = new WeakSet<object>();
  const state: { cutsIdle: boolean; endsStream?: "end" | "destroy" } = { cutsIdle: false };
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const called = /"name":"(\w+)"/.exec(body.toString())?.[1];
    if (called && body.includes("tools/call")) calls.push(called);
    if (state.cutsIdle && used.has(request.socket)) return void request.socket.destroy();
    used.add(request.socket);
    if (called && state.endsStream) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return void response.write(": soon\n\n", () => response[state.endsStream!]());
    }
    const answered = await handle(
      new Request(`http://localhost${request.url}`, {
        method: request.method ?? "GET",
        headers: request.headers as Record<string, string>,
        ...(body.length > 0 && { body }),
      }),
    );
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.flushHeaders();
    response.once("close", () => void answered.body?.cancel().catch(() => {}));
    for await (const chunk of answered.body ?? []) response.write(chunk);
    response.end();
  }
  const http = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const listen = (port: number) => new Promise<void>((done) => http.listen(port, "127.0.0.1", done));
  const stop = () =>
    new Promise<void>((done) => {
      http.close(() => done());
      http.closeAllConnections();
    });
  await listen(0);
  const { port } = http.address() as AddressInfo;
  const source = createMcpSource(
    "web",
    { type: "http", url: `http://127.0.0.1:${port}/mcp` },
    { trusted: true, limits: { backoffMs: 20 } },
  );
  const gateway = gatewayOf([source]);
  open.push(stop, () => gateway.close());
  const run = (tool: string) => gateway.exec({ op: `web.${tool}`, args: { who: "Ada" } });
  return { gateway, run, calls, state, forget, stop, start: () => listen(port) };
}

describe.each(PROTOCOLS)("an HTTP server in the %s protocol", (protocol) => {
  verifies(
    ["upstream:faults", "network"],
    "closes idle connections: reads are repeated, writes are not",
    async () => {
      const { run, calls, state } = await serve(protocol);
      expect(await run("greet")).toMatchObject({ ok: true });
      state.cutsIdle = true;
      expect(await run("greet")).toMatchObject({ ok: true, result: "Hello Ada" });
      expect(calls.splice(0)).toEqual(["greet", "greet", "greet"]);
      const lost = await run("write");
      expect(lost).toMatchObject({ ok: false, error: { code: "UPSTREAM_LOST", details: { server: "web" } } });
      expect(calls).toEqual(["write"]);
    },
  );

  verifies(
    ["upstream:faults", "network"],
    "breaks off its answer: the call fails at once, and runs once",
    async () => {
      const { run, calls, state } = await serve(protocol);
      expect(await run("write")).toMatchObject({ ok: true });
      calls.length = 0;
      for (const how of ["end", "destroy"] as const) {
        state.endsStream = how;
        const lost = await run("write");
        expect(lost).toMatchObject({ ok: false, error: { code: "UPSTREAM_LOST" } });
        expect(JSON.stringify(lost)).toContain("its answer broke off");
      }
      expect(calls).toEqual(["write", "write"]);
    },
  );

  verifies(["upstream:faults", "reconnect-storm"], "goes down and comes back", async () => {
    const { run, stop, start } = await serve(protocol);
    expect(await run("write")).toMatchObject({ ok: true });
    await stop();
    await eventually(async () => {
      const away = await run("write");
      expect(away).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
      expect(JSON.stringify(away)).toContain("ECONNREFUSED");
    });
    await start();
    await eventually(async () => expect(await run("write")).toMatchObject({ ok: true }));
  });
});

verifies(
  "upstream:faults",
  "a session that the server has lost is opened again, for writes too",
  async () => {
    const { run, calls, forget } = await serve("legacy");
    expect(await run("write")).toMatchObject({ ok: true });
    forget();
    expect(await run("write")).toMatchObject({ ok: true, result: "Wrote Ada" });
    expect(await run("greet")).toMatchObject({ ok: true });
    expect(calls).toEqual(["write", "write", "write", "greet"]);
  },
);

verifies("mcp:byte-stable", "a server that goes down leaves the native list unchanged", async () => {
  const { gateway, run, stop } = await serve("modern");
  await run("greet");
  const server = createMcpServer(gateway, { surface: "native", debounceMs: 0 });
  open.push(() => server.close());
  const { client } = await connect(server, "2026-07-28");
  const before = JSON.stringify((await client.listTools()).tools);
  await stop();
  await eventually(async () => expect(JSON.stringify(await run("greet"))).toContain("server_down"));
  await eventually(async () => {
    const { hits } = await gateway.ask({ query: "web.greet" });
    expect(JSON.stringify(hits)).toContain("server_down");
  });
  expect(JSON.stringify((await client.listTools()).tools)).toBe(before);
  const refused = await client.callTool({ name: "web_greet", arguments: { who: "Ada" } });
  expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: "UNAVAILABLE" } } });
});
