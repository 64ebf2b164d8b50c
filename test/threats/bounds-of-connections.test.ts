import { Server } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import type { Principal } from "../../src/core/nouns/principal.ts";
import { createLegacySessions } from "../../src/faces/mcp/legacy-sessions.ts";

const bob: Principal = { id: "bob", scopes: [], allowWrite: false };
const mallory: Principal = { id: "mallory", scopes: [], allowWrite: false };

function createConnections(maxSessions: number) {
  const connect = async () => new Server({ name: "test", version: "1" }, { capabilities: {} });
  const sessions = createLegacySessions(connect, connect, maxSessions);
  onTestFinished(() => sessions.close());

  function send(principal: Principal, body: object, session?: string): Promise<Response> {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session !== undefined && { "mcp-session-id": session }),
    };
    const text = JSON.stringify(body);
    const request = new Request("http://localhost/mcp", { method: "POST", headers, body: text });
    return sessions.fetch(request, body, principal);
  }
  return {
    open: async (principal: Principal) => {
      const params = {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      };
      const answer = await send(principal, { jsonrpc: "2.0", id: 1, method: "initialize", params });
      await answer.text();
      return answer.headers.get("mcp-session-id") ?? "";
    },
    ping: async (principal: Principal, session: string) => {
      const answer = await send(principal, { jsonrpc: "2.0", id: 2, method: "ping" }, session);
      await answer.text();
      return answer.status;
    },
  };
}

test("T17: a principal that opens connections without end closes only its own", async () => {
  const { open, ping } = createConnections(40);
  const others = await Promise.all(Array.from({ length: 5 }, () => open(bob)));
  const own: string[] = [];
  for (let opened = 0; opened < 100; opened += 1) own.push(await open(mallory));
  for (const session of others) expect(await ping(bob, session)).toBe(200);
  const statuses = await Promise.all(own.map((session) => ping(mallory, session)));
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(statuses.at(-1)).toBe(200);
  expect(await ping(mallory, others[0]!)).toBe(404);
});
