import { connect, type Socket } from "node:net";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer, type HttpOptions, serveHttp } from "keyhole/mcp";
import { afterEach, expect, test } from "vitest";
import { verifies } from "../claims.ts";
import { clerk } from "../shop.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const PART = "x".repeat(10_000);
const MOST_PARTS = 10_000;

/** Serves a tool that reports progress until it is stopped, and tells what became of it. */
async function serve(options: HttpOptions = {}) {
  const state = { running: 0, parts: 0, stopped: 0 };
  const talk = defineTool({
    name: "get_talk",
    op: "talk.on",
    description: "Talks until it is stopped.",
    execute: async (_, { signal, client }) => {
      state.running += 1;
      while (!signal.aborted && state.parts < MOST_PARTS) {
        state.parts += 1;
        client?.progress({ progress: state.parts, message: PART });
        await new Promise((done) => setImmediate(done));
      }
      if (signal.aborted) state.stopped += 1;
      return "done";
    },
  });
  const domain = defineDomain({ name: "talk", description: "Talk.", tools: [talk] });
  const gateway = createGateway({ domains: [domain], principal: clerk });
  const server = createMcpServer(gateway);
  const http = await serveHttp(server, { token: "t", drainMs: 0, ...options });
  open.push(
    () => gateway.close(),
    () => server.close(),
    () => http.close(),
  );
  return { state, ...http };
}

const HEADERS = {
  authorization: "Bearer t",
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

function call(era: "modern" | "legacy") {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const _meta = { progressToken: 1, ...(era === "modern" && meta) };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "exec" };
  return {
    headers: era === "modern" ? headers : {},
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "exec", arguments: { op: "talk.on" }, _meta },
    },
  };
}

/** Sends a request over its own socket and reads nothing. */
function send(url: string, { headers = {}, body }: { headers?: object; body: object }): Socket {
  const { port } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
  open.push(() => socket.destroy());
  const text = JSON.stringify(body);
  const lines = Object.entries({ host: "localhost", ...HEADERS, ...headers, "content-length": text.length });
  socket.pause();
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.map((line) => `${line.join(": ")}\r\n`).join("")}\r\n${text}`);
  return socket;
}

async function post(url: string, body: object, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.status;
}

test.each(["modern", "legacy"] as const)(
  "slow-consumer: drops a client of the %s protocol that does not read, and stops its call",
  async (era) => {
    const { url, state } = await serve();
    send(url, call(era));
    await expect.poll(() => state.stopped, { timeout: 20_000 }).toBe(1);
    // The unread output is bounded.
    expect(state.parts).toBeLessThan(MOST_PARTS / 2);
    expect(await post(url, LIST)).toBe(200);
  },
  30_000,
);

verifies(
  ["mcp:cancel", "client-gone"],
  "a client that hangs up in the middle of a stream stops its call",
  async () => {
    const { url, state } = await serve();
    const socket = send(url, call("modern"));
    await expect.poll(() => state.parts).toBeGreaterThan(3);
    socket.destroy();
    await expect.poll(() => state.stopped).toBe(1);
  },
);

verifies(
  ["mcp:cancel", "client-gone"],
  "a client with a session of the older protocol that hangs up stops its call, for nobody can get its answer",
  async () => {
    const { url, state } = await serve();
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const opened = await fetch(url, { method: "POST", headers: HEADERS, body });
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
    await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
    const socket = send(url, { ...call("legacy"), headers: session });
    await expect.poll(() => state.parts).toBeGreaterThan(3);
    socket.destroy();
    await expect.poll(() => state.stopped).toBe(1);
    // The session itself goes on.
    expect(await post(url, LIST, session)).toBe(200);
  },
);

verifies("mcp:http-limits", "a client that hangs up during authentication is not counted", async () => {
  const known = Promise.withResolvers<void>();
  let asked = 0;
  const { url } = await serve({
    limits: { concurrency: 2 },
    authenticate: async () => {
      asked += 1;
      await known.promise;
      return clerk;
    },
  });
  const sockets = Array.from({ length: 4 }, () => send(url, { body: LIST }));
  await expect.poll(() => asked).toBe(4);
  await Promise.all(sockets.map((socket) => new Promise((done) => socket.once("close", done).destroy())));
  known.resolve();
  await expect.poll(() => post(url, LIST)).toBe(200);
});

verifies("mcp:http-limits", "a header that names a stream lets no other request past the limit", async () => {
  const { url, state } = await serve();
  expect(await post(url, call("legacy").body, { "mcp-method": "subscriptions/listen" })).toBe(400);
  expect(state.running).toBe(0);
});
