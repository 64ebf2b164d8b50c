// A key ends with everything that hangs on it: open answers end, and a later key of the same name inherits nothing.
import { type IncomingMessage, request } from "node:http";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { serveConsole } from "keyhole/http";
import { createMcpServer } from "keyhole/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { openGrants, openGrantsNow } from "../../src/core/access/grants.ts";
import { createWaitingCalls } from "../../src/core/access/waiting-calls.ts";
import { openRecordFile } from "../../src/core/storage/record-file.ts";
import { createMemoryRecords } from "../../src/core/storage/records.ts";
import { faceApiOf } from "../../src/gateway/face-api.ts";
import { createAgentTokens } from "../../src/program/open/agent-tokens.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const ROWS = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `row-${id}` }));
const JSON_TYPE = { "content-type": "application/json", accept: "application/json, text/event-stream" };

async function open() {
  const log: string[] = [];
  const tools = [
    defineTool({
      name: "list_rows",
      description: "Lists rows.",
      lane: "read",
      inputSchema: z.object({}),
      execute: () => ROWS,
    }),
    defineTool({
      name: "delete_rows",
      description: "Deletes rows.",
      lane: "destructive",
      inputSchema: z.object({}),
      execute: (_, { principal }) => `deleted${log.push(principal.id)}`,
    }),
    defineTool({
      name: "wait_long",
      description: "Waits until its caller is gone.",
      lane: "read",
      inputSchema: z.object({}),
      execute: async (_, { signal }) => {
        log.push("waiting");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        log.push("cancelled");
        return "waited";
      },
    }),
  ];
  const domains = [defineDomain({ name: "data", description: "Data.", tools })];
  const gateway = createGateway({ domains, limits: { resultTokens: 2_000 } });
  const waiting = createWaitingCalls(openGrants(createMemoryRecords(), "call"));
  faceApiOf(gateway).keepQuestions(waiting);
  let now = Date.now();
  const file = `${temporaryFolder()}/approvals.db`;
  const opened = () => createAgentTokens(openGrantsNow(openRecordFile(file), "agent"), () => now);
  const server = createMcpServer(gateway);
  const http = await serveConsole(gateway, server, { token: "owner", tokens: opened() });
  onTestFinished(async () => {
    await http.close();
    await server.close();
    await gateway.close();
  });
  /** Another process that gives and revokes keys. */
  const keys = opened();
  const give = async (expiresAt?: number) =>
    (await keys.add({ name: "ci", scopes: [], allowWrite: true, ...(expiresAt && { expiresAt }) }))!;
  const post = async (token: string, message: object, headers = {}) => {
    const sent = { ...JSON_TYPE, authorization: `Bearer ${token}`, ...headers };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...message });
    const response = await fetch(http.url, { method: "POST", headers: sent, body });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const call = async (token: string, name: string, args: object, headers = {}) => {
    const { status, text } = await post(
      token,
      { method: "tools/call", params: { name, arguments: args } },
      headers,
    );
    return `${status} ${text}`;
  };
  const initialize = async (token: string) => {
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    const { headers } = await post(token, { method: "initialize", params });
    return { "mcp-session-id": headers.get("mcp-session-id")!, "mcp-protocol-version": "2025-06-18" };
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { http, log, keys, give, call, initialize, waiting, pass, now: () => now, gateway };
}

test("T4: a key of a name that was revoked inherits nothing of the earlier key", async () => {
  const { keys, give, call, initialize, waiting, log } = await open();
  const old = await give();
  const session = await initialize(old);
  const stored = /result:\/\/[\w-]+/.exec(await call(old, "get", { routes: ["data.row.list"] }))![0];
  expect(await call(old, "get", { routes: [stored] })).toContain("row-1");
  expect(await call(old, "exec", { op: "data.rows.delete" })).toContain("keyhole approve call:");
  for (const waits of await waiting.list()) await waiting.approve(waits, "person");

  await keys.revoke("ci");
  const fresh = await give();
  expect(await call(old, "get", { routes: [stored] })).toMatch(/^401 /);
  expect(await call(fresh, "get", { routes: [stored] })).toContain("UNKNOWN_HANDLE");
  expect(await call(fresh, "ask", { query: "rows" }, session)).toMatch(/^404 /);
  expect(await call(fresh, "exec", { op: "data.rows.delete" })).toContain("keyhole approve call:");
  expect(log).toEqual([]);
});

test("T4: two keys of one name are two callers in the log, both found by the name", async () => {
  const { keys, give } = await open();
  const first = (await keys.find(await give()))!.id;
  await keys.revoke("ci");
  const second = (await keys.find(await give()))!.id;
  expect(second).not.toBe(first);
  for (const id of [first, second]) expect(id).toMatch(/^agent:ci#/);
});

type Opened = Awaited<ReturnType<typeof open>>;

/** Answers that stay open. */
const STREAMS: readonly [string, (opened: Opened, token: string) => Promise<IncomingMessage>][] = [
  ["the console's stream of changes", ({ http }, token) => get(new URL("/api/events", http.url), token)],
  [
    "the stream of an MCP session",
    async ({ http, initialize }, token) => get(new URL(http.url), token, await initialize(token)),
  ],
  [
    "a subscription",
    ({ http }, token) =>
      answerTo(
        new URL(http.url),
        token,
        {
          method: "subscriptions/listen",
          params: {
            notifications: { toolsListChanged: true },
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
              "io.modelcontextprotocol/clientCapabilities": {},
            },
          },
        },
        { "mcp-method": "subscriptions/listen", "mcp-protocol-version": "2026-07-28" },
      ),
  ],
];

describe.each(STREAMS)("%s", (_, start) => {
  test.each(["revoked", "expired"])("T4: ends when its key is %s", async (how) => {
    const opened = await open();
    const token = await opened.give(opened.now() + 60_000);
    const answer = await start(opened, token);
    expect(answer.statusCode).toBe(200);
    const closed = new Promise((resolve) =>
      answer
        .on("error", () => {})
        .on("close", resolve)
        .resume(),
    );
    if (how === "revoked") await opened.keys.revoke("ci");
    else opened.pass(60_000);
    await closed;
  });
});

test("T4: a call that runs is cancelled when its key is revoked, and others go on", async () => {
  const opened = await open();
  const token = await opened.give();
  const other = await get(new URL("/api/events", opened.http.url), "owner");
  let isOtherOpen = true;
  other.resume().on("close", () => {
    isOtherOpen = false;
  });
  const running = opened.call(token, "get", { routes: ["data.long.wait"] }).catch(() => "ended");
  await expect.poll(() => opened.log).toEqual(["waiting"]);
  await opened.keys.revoke("ci");
  expect(await running).toBe("ended");
  await expect.poll(() => opened.log).toEqual(["waiting", "cancelled"]);
  expect(isOtherOpen).toBe(true);
  other.destroy();
});

function get(url: URL, token: string, headers = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = { authorization: `Bearer ${token}`, accept: "text/event-stream", ...headers };
    request(url, { headers: sent }, resolve).on("error", reject).end();
  });
}

function answerTo(url: URL, token: string, message: object, headers: object): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = { ...JSON_TYPE, authorization: `Bearer ${token}`, ...headers };
    request(url, { method: "POST", headers: sent }, resolve)
      .on("error", reject)
      .end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }));
  });
}
