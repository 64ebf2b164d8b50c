import { request as httpRequest } from "node:http";
import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { createMcpServer, type HttpOptions, type HttpServer, serveHttp } from "keyhole/mcp";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "../claims.ts";
import { clerk, createShop } from "../shop.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0).reverse()) await server.close();
});

interface Gate {
  readonly started: Promise<void>;
  finish(): void;
}

async function serve(options: HttpOptions = {}): Promise<HttpServer & { gate: Gate }> {
  const started = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<string>();
  const slow = defineDomain({
    name: "slow",
    description: "Slow things.",
    tools: [
      defineTool({
        name: "wait_long",
        op: "slow.wait",
        description: "Waits.",
        execute: () => {
          started.resolve();
          return finished.promise;
        },
      }),
    ],
  });
  const gateway = createGateway({ domains: [...createShop().domains, slow], principal: clerk });
  const server = createMcpServer(gateway, { structured: true });
  const http = await serveHttp(server, options);
  open.push(server, http);
  return { ...http, gate: { started: started.promise, finish: () => finished.resolve("done") } };
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
const listTools = { jsonrpc: "2.0", id: 2, method: "tools/list" };

interface Sent {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** Uses plain HTTP, because fetch does not let a test choose the Host header. */
function send(url: string, headers: Record<string, string>, body?: unknown, method = "POST"): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const accept = "application/json, text/event-stream";
    const request = httpRequest(
      url,
      { method, headers: { accept, "content-type": "application/json", ...headers } },
      (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      },
    );
    request.on("error", reject);
    request.end(typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body));
  });
}

describe("the checks in front", () => {
  verifies("mcp:http-front", "generates a token and demands it", async () => {
    const { url, token } = await serve();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect(token).toMatch(/^kh_[\w-]{43}$/);
    expect((await send(url, bearer(token), listTools)).status).toBe(200);
    const wrong = [
      "",
      "Bearer",
      `Bearer ${token}x`,
      `Bearer ${token?.slice(0, -1)}`,
      `Basic ${token}`,
      `Bearer ${token} x`,
    ];
    for (const authorization of wrong) {
      const { status, headers } = await send(url, { authorization }, listTools);
      expect([authorization, status]).toEqual([authorization, 401]);
      expect(headers["www-authenticate"]).toMatch(/^Bearer error="invalid_token"/);
    }
    expect((await send(url, {}, listTools)).status).toBe(401);
    expect((await send(`${url}?token=${token}`, {}, listTools)).status).toBe(401);
    const configured = await serve({ token: "my own" });
    expect(configured.token).toBeUndefined();
  });

  verifies(
    ["mcp:http-front", "T5"],
    "accepts only Host and Origin of this machine, for any method and path",
    async () => {
      const { url, token } = await serve();
      const good = ["localhost", "127.0.0.1:9", "[::1]:80"];
      const bad = [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example:80",
        "0.0.0.0",
        "a b",
      ];
      const origins = [undefined, "http://localhost:3000", "http://127.0.0.1"];
      const badOrigins = [
        "http://evil.example",
        "null",
        "https://localhost.evil.example",
        "file://",
        "garbage",
      ];
      for (const method of ["POST", "GET", "OPTIONS", "DELETE"]) {
        for (const path of ["/mcp", "/", "/.well-known/oauth-protected-resource"]) {
          const at = new URL(path, url).href;
          for (const host of bad)
            expect((await send(at, { ...bearer(token), host }, undefined, method)).status).toBe(403);
          for (const origin of badOrigins) {
            expect([
              origin,
              (await send(at, { ...bearer(token), origin }, undefined, method)).status,
            ]).toEqual([origin, 403]);
          }
        }
      }
      for (const host of good) {
        for (const origin of origins) {
          const { status, headers } = await send(
            url,
            { ...bearer(token), host, ...(origin && { origin }) },
            listTools,
          );
          expect([host, origin, status]).toEqual([host, origin, 200]);
          expect(headers["access-control-allow-origin"]).toBeUndefined();
        }
      }
      expect((await send(new URL("/other", url).href, bearer(token), listTools)).status).toBe(404);
    },
  );

  test("T18: refuses a request whose header names another method than its body", async () => {
    const { url, token } = await serve();
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const call = (name: string, op: string) => ({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: { op }, _meta: meta },
    });
    const headers = { ...bearer(token), "mcp-protocol-version": "2026-07-28" };
    const split: Record<string, string>[] = [
      { "mcp-method": "tools/list" },
      { "mcp-method": "tools/call", "mcp-name": "ask" },
      { "mcp-method": "subscriptions/listen" },
    ];
    for (const changed of split) {
      const { status, text } = await send(url, { ...headers, ...changed }, call("exec", "slow.wait"));
      expect([status, JSON.parse(text).error.code]).toEqual([400, -32020]);
    }
  });
});

describe("sessions", () => {
  verifies("mcp:sessions", "belong to the principal that opened them", async () => {
    const people: Record<string, Principal> = {
      ann: { id: "ann", scopes: [], allowWrite: true },
      bob: { id: "bob", scopes: [], allowWrite: true },
    };
    const { url } = await serve({
      authenticate: async ({ authorization = "" }) =>
        people[authorization] ?? new Response(null, { status: 401 }),
    });
    const opened = await send(url, { authorization: "ann" }, initialize);
    const id = String(opened.headers["mcp-session-id"]);
    expect(id).toMatch(/^[\w-]{22,}$/);
    const use = (authorization: string, session: string, method = "POST") =>
      send(
        url,
        { authorization, "mcp-session-id": session },
        method === "POST" ? listTools : undefined,
        method,
      );
    expect((await use("ann", id)).status).toBe(200);
    const foreign = await use("bob", id);
    const fabricated = await use("bob", "00000000-0000-4000-8000-000000000000");
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe(fabricated.text);
    expect((await use("bob", id, "DELETE")).status).toBe(404);
    expect((await use("bob", id, "GET")).status).toBe(404);
    expect((await use("ann", id, "DELETE")).status).toBe(200);
    expect((await use("ann", id)).status).toBe(404);
  });

  verifies(["mcp:sessions", "T4"], "handles in arguments belong to the principal that got them", async () => {
    const people: Record<string, Principal> = { ann: { ...clerk, id: "ann" }, bob: { ...clerk, id: "bob" } };
    const { url } = await serve({ authenticate: async ({ authorization = "" }) => people[authorization]! });
    const ask = async (authorization: string, session: string) => {
      const call = { name: "ask", arguments: { query: "order", session } };
      const { text } = await send(
        url,
        { authorization },
        { ...listTools, method: "tools/call", params: call },
      );
      const data = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
      return JSON.parse(data).result.structuredContent;
    };
    const { session } = await ask("ann", "new");
    expect((await ask("ann", session)).session).toBe(session);
    const foreign = await ask("bob", session);
    const madeUp = await ask("bob", "ses_AAAAAAAAAAAAAAAAAAAAAA");
    expect(foreign.error.code).toBe("UNKNOWN_HANDLE");
    expect({ ...foreign.error, message: "" }).toEqual({ ...madeUp.error, message: "" });
  });
});

describe("limits", () => {
  verifies("mcp:http-limits", "refuses a caller over its rate, and no other", async () => {
    const { url } = await serve({
      limits: { ratePerSecond: 0.5, burst: 3 },
      authenticate: async ({ authorization = "" }) => ({ ...clerk, id: authorization }),
    });
    const statuses = [];
    for (let count = 0; count < 5; count++)
      statuses.push((await send(url, { authorization: "ann" }, listTools)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const { headers } = await send(url, { authorization: "ann" }, listTools);
    expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect((await send(url, { authorization: "bob" }, listTools)).status).toBe(200);
  });

  verifies(
    ["mcp:http-limits", "shutdown"],
    "limits the concurrent calls of a caller; shutdown lets them finish",
    async () => {
      const http = await serve({ token: "t", limits: { concurrency: 1 }, drainMs: 5_000 });
      const call = {
        ...listTools,
        method: "tools/call",
        params: { name: "exec", arguments: { op: "slow.wait" } },
      };
      const waiting = send(http.url, bearer("t"), call);
      await http.gate.started;
      expect((await send(http.url, bearer("t"), listTools)).status).toBe(429);
      const closed = http.close();
      await expect(send(http.url, bearer("t"), listTools)).rejects.toThrow(/ECONNREFUSED/);
      http.gate.finish();
      expect((await waiting).text).toContain("done");
      await closed;
      open.pop();
    },
  );

  verifies("mcp:http-limits", "refuses bodies that are too large, too deep or not JSON", async () => {
    const { url, token } = await serve();
    const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect((await send(url, bearer(token), deep)).status).toBe(400);
    expect((await send(url, bearer(token), "{")).status).toBe(400);
    expect((await send(url, { ...bearer(token), "content-type": "text/plain" }, "{}")).status).toBe(415);
    const large = JSON.stringify({ ...listTools, params: { filler: "x".repeat(5 * 1024 * 1024) } });
    expect((await send(url, bearer(token), large)).status).toBe(413);
  });
});

function bearer(token: string | undefined): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}
