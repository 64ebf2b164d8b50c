// The SDK answers the first call of a connection, the fast path the calls after it. Both must answer alike.
import { once } from "node:events";
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import { createGateway, defineDomain, defineTool, type Gateway } from "keyhole";
import { createMcpServer, type McpServer, serveHttp } from "keyhole/mcp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Surface } from "../../src/core/surfaces/surface-names.ts";
import { createLineTransport } from "../../src/faces/mcp/line-transport.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { verifies } from "../claims.ts";
import { PATIENT } from "../upstream-kit.ts";

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "lane", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const PICTURE = { type: "image", data: "aGVsbG8=", mimeType: "image/png" };

const text = z.object({ text: z.string() });
const tools = {
  say: ({ text }: { text: string }) => text,
  list: () => ({ items: [1, 2, 3], nested: { "10": "a", b: "c" } }),
  picture: () => ({ content: [{ type: "text", text: "see" }, PICTURE] }),
  structured: () => ({ content: [{ type: "text", text: "see" }], structuredContent: { b: 1, a: 2 } }),
  signed: () => ({ content: [{ type: "text", text: "see" }], _meta: { other: 1 } }),
  noted: () => ({ content: [{ type: "text", text: "see", annotations: { priority: 1 } }] }),
  odd: () => ({ content: [{ type: "text", text: "a\u0000b\ud800" }], isError: true, more: 1 }),
  failing: () => {
    throw new Error("It does not work.");
  },
};

/** Reports progress once, and waits until it is cancelled. */
const waiting = defineTool({
  name: "get_wait",
  op: "lab.wait",
  description: "Waits.",
  inputSchema: z.object({}),
  execute: (_, { signal, client }) => {
    client?.progress({ progress: 1, message: "begun" });
    return new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve(cancelled.resolve("cancelled"))),
    );
  },
});
const cancelled = Promise.withResolvers<string>();

let gateway: Gateway;
const servers = new Map<Surface, McpServer>();

beforeAll(async () => {
  const echo = { command: process.execPath, args: [resolve("bench/overhead/echo-server.ts")] };
  gateway = createGateway({
    domains: [
      defineDomain({
        name: "lab",
        description: "Tools of many shapes.",
        tools: Object.entries(tools)
          .map(([name, execute]) =>
            defineTool({
              name: `get_${name}`,
              op: `lab.${name}`,
              description: name,
              inputSchema: name === "say" ? text : z.object({}),
              execute: execute as () => unknown,
            }),
          )
          .concat(waiting as never),
      }),
    ],
    sources: [createMcpSource("echo", echo, { trusted: true, limits: PATIENT })],
  });
  await gateway.ready();
  for (const surface of ["lanes", "native"] as const)
    servers.set(surface, createMcpServer(gateway, { surface, name: "lab", version: "1" }));
});

afterAll(async () => {
  for (const server of servers.values()) await server.close();
  await gateway.close();
});

type Params = Readonly<Record<string, unknown>>;
type Ask = (id: unknown, params: unknown) => Promise<string[]>;

interface RawClient {
  readonly ask: Ask;
  send(message: object): void;
  /** Waits for a line, and returns all lines so far. */
  until(isLast: (line: string) => boolean): Promise<string[]>;
  end(): void;
}

/** A raw client. It returns every line up to the answer. */
async function open(surface: Surface, era: "modern" | "legacy"): Promise<RawClient> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  servers.get(surface)!.connect(createLineTransport(input, output));
  const lines: string[] = [];
  output.setEncoding("utf8").on("data", (chunk: string) => {
    lines.push(...chunk.trimEnd().split("\n"));
    output.emit("lines");
  });
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const until = async (isLast: (line: string) => boolean) => {
    while (!lines.some(isLast)) await once(output, "lines");
    return lines.splice(0);
  };
  if (era === "legacy") {
    const clientInfo = { name: "lane", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    send({ id: "first", method: "initialize", params });
    await until((line) => line.includes('"first"'));
    send({ method: "notifications/initialized" });
  }
  const ask: Ask = (id, params) => {
    send({ id, method: "tools/call", params });
    return until((line) => line.includes(`"id":${JSON.stringify(id)}`));
  };
  return { ask, send, until, end: () => input.end() };
}

const exec = (op: string, args: object = {}) => ({ name: "exec", arguments: { op, args } });
const CALLS: Readonly<Record<string, readonly Params[]>> = {
  lanes: [
    ...Object.keys(tools).map((tool) => exec(`lab.${tool}`, tool === "say" ? { text: "é\u2028\u0007" } : {})),
    exec("echo.get_echo", { text: "through" }),
    exec("lab.say"),
    exec("lab.sya", { text: "near" }),
    { name: "ask", arguments: { query: "picture" } },
    { name: "help", arguments: { path: "lab" } },
    { name: "exec" },
    { name: "nothing", arguments: {} },
    { ...exec("lab.say", { text: "x" }), _meta: { "keyhole/structured": true } },
  ],
  native: [
    ...Object.keys(tools).map((tool) => ({ name: `lab_${tool}`, arguments: { text: "x" } })),
    { name: "echo_get_echo", arguments: { text: "through" } },
    { name: "echo_get_echo", arguments: { txet: "through" } },
    { name: "nothing" },
  ],
};
/** Requests that the protocol refuses, or that only the SDK understands. */
const UNUSUAL: readonly unknown[] = [
  {},
  { name: 5 },
  { name: "exec", arguments: [] },
  { name: "exec", arguments: null },
  { ...exec("lab.say", { text: "x" }), other: 1 },
  { ...exec("lab.say", { text: "x" }), task: { ttl: 1 } },
  { ...exec("lab.say", { text: "x" }), requestState: "forged" },
  { ...exec("lab.say", { text: "x" }), inputResponses: {} },
  { ...exec("lab.say", { text: "x" }), _meta: { progressToken: "t" } },
];

function withEnvelope(params: unknown, era: string): unknown {
  const given = params as Params;
  return era === "legacy" ? given : { ...given, _meta: { ...ENVELOPE, ...(given._meta as object) } };
}

/** Every call has its own trace and duration. */
function comparable(lines: readonly string[]): string[] {
  return lines.map((line) =>
    line
      .replaceAll(/tr_[0-9a-f-]{36}/g, "tr_")
      .replaceAll(/(\\?"latency_ms\\?"):\d+/g, "$1:0")
      .replaceAll(/(sess:\/\/|session:\/\/|result:\/\/)[\w-]+/g, "$1"),
  );
}

for (const era of ["modern", "legacy"] as const) {
  for (const surface of ["lanes", "native"] as const) {
    verifies("mcp:fast-path", `${surface} over a ${era} connection answers both ways alike`, async () => {
      const warm = await open(surface, era);
      await warm.ask("warm", withEnvelope(CALLS[surface]![0], era));
      for (const params of [...CALLS[surface]!, ...(surface === "lanes" ? UNUSUAL : [])]) {
        const given = withEnvelope(params, era);
        const cold = await open(surface, era);
        const [slow, fast] = [await cold.ask("id-7", given), await warm.ask("id-7", given)];
        expect({ given, lines: comparable(fast) }).toEqual({ given, lines: comparable(slow) });
        cold.end();
      }
      warm.end();
    });
  }

  verifies("mcp:fast-path", `any id over a ${era} connection is answered both ways alike`, async () => {
    const warm = await open("lanes", era);
    const given = withEnvelope(exec("lab.say", { text: "x" }), era);
    await warm.ask("warm", given);
    for (const id of [0, -1, 2 ** 40, "", "é"]) {
      const cold = await open("lanes", era);
      expect(comparable(await warm.ask(id, given))).toEqual(comparable(await cold.ask(id, given)));
      cold.end();
    }
    warm.end();
  });
}

for (const surface of ["lanes", "native"] as const) {
  verifies("mcp:fast-path", `${surface} over HTTP answers both ways alike`, async () => {
    const http = await serveHttp(servers.get(surface)!, { token: "lane" });
    let clients = 0;
    const post = async (params: Params, client: string) => {
      const clientInfo = { "io.modelcontextprotocol/clientInfo": { name: client, version: "1" } };
      const _meta = { ...ENVELOPE, ...clientInfo, ...(params._meta as object) };
      const response = await fetch(http.url, {
        method: "POST",
        headers: {
          authorization: "Bearer lane",
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": String(params.name),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { ...params, _meta } }),
      });
      const { status, headers } = response;
      return [`${status} ${headers.get("content-type")}`, ...comparable([await response.text()])];
    };
    for (const params of [...CALLS[surface]!, ...(surface === "lanes" ? UNUSUAL : [])]) {
      // The SDK checks an envelope that it has not seen before.
      clients += 1;
      const slow = await post(params as Params, `lane ${clients}`);
      expect({ params, answer: await post(params as Params, `lane ${clients}`) }).toEqual({
        params,
        answer: slow,
      });
    }
    await http.close();
  });
}

test("T18: whatever the headers say, the fast path answers as the SDK does", async () => {
  const http = await serveHttp(servers.get("lanes")!, { token: "lane" });
  const params = { name: "get", arguments: { routes: ["nothing://here"] } };
  const post = async (headers: Record<string, string | undefined>, client: string, body?: string) => {
    const clientInfo = { "io.modelcontextprotocol/clientInfo": { name: client, version: "1" } };
    const _meta = { ...ENVELOPE, ...clientInfo };
    const given = {
      authorization: "Bearer lane",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "get",
      ...headers,
    };
    const message = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { ...params, _meta } };
    const response = await fetch(http.url, {
      method: "POST",
      headers: Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      body: body ?? JSON.stringify(message),
    });
    return [response.status, response.headers.get("content-type"), ...comparable([await response.text()])];
  };
  let clients = 0;
  for (const headers of ODD_HEADERS) {
    clients += 1;
    const slow = await post(headers, `odd ${clients}`);
    await post({}, `odd ${clients}`);
    expect({ headers, answer: await post(headers, `odd ${clients}`) }).toEqual({ headers, answer: slow });
  }
  await http.close();
});

/** Headers in place of those that a client should send. */
const ODD_HEADERS: readonly Record<string, string | undefined>[] = [
  { "mcp-session-id": "made-up" },
  { "mcp-session-id": "" },
  { accept: undefined },
  { accept: "text/html" },
  { accept: "application/json" },
  { accept: "text/event-stream" },
  { "content-type": "text/plain" },
  { "content-type": "application/json; charset=latin1" },
  { "content-type": "application/jsonl" },
  { "last-event-id": "5" },
  { "mcp-param-routes": "other" },
  { "mcp-name": "exec" },
  { "mcp-name": "GET" },
  { "mcp-name": undefined },
  { "mcp-method": "tools/list" },
  { "mcp-method": undefined },
  { "mcp-protocol-version": "2025-11-25" },
  { "mcp-protocol-version": "1999-01-01" },
  { "mcp-protocol-version": undefined },
  { authorization: undefined },
  { authorization: "Bearer other" },
  { origin: "http://evil.example" },
];

verifies("mcp:fast-path", "a call on the fast path reports its progress and can be cancelled", async () => {
  const { ask, send, until, end } = await open("lanes", "legacy");
  await ask("warm", exec("lab.say", { text: "x" }));
  const params = { ...exec("lab.wait"), _meta: { progressToken: "t" } };
  send({ id: 8, method: "tools/call", params });
  const lines = await until((line) => line.includes("begun"));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: "t", progress: 1, message: "begun" },
    },
  ]);
  send({ method: "notifications/cancelled", params: { requestId: 8, reason: "enough" } });
  expect(await cancelled.promise).toBe("cancelled");
  // A cancelled request gets no answer, so the next line belongs to the next call.
  expect(await ask(9, exec("lab.say", { text: "x" }))).toHaveLength(1);
  end();
});
