import type { Client } from "@modelcontextprotocol/client";
import { createGateway, type SessionStore } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, onTestFinished } from "vitest";
import { createSessionStore } from "../../src/core/storage/session-store.ts";
import { verifies } from "../claims.ts";
import { clerk, createShop } from "../shop.ts";
import { connect } from "./connect.ts";

/** Returns a store, and the handles of its open sessions. */
function countedStore(): { sessions: SessionStore; open: Set<string> } {
  const store = createSessionStore();
  const open = new Set<string>();
  const sessions: SessionStore = {
    ...store,
    open: async (principalId) => {
      const handle = await store.open(principalId);
      open.add(handle);
      return handle;
    },
    end: async (handle, principalId) => {
      await store.end(handle, principalId);
      open.delete(handle);
    },
  };
  return { sessions, open };
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

verifies("session:implied", "a connection has one session, which ends with it", async () => {
  const { sessions, open } = countedStore();
  const gateway = createGateway({ domains: createShop().domains, principal: clerk, sessions });
  const server = createMcpServer(gateway);
  onTestFinished(() => server.close());
  const { client } = await connect(server, "2025-11-25");
  await client.listTools();
  await call(client, "ask", { query: "list orders" });
  await call(client, "get", { routes: [{ route: "shop://tools/clerk-guide" }] });
  const card = await call(client, "get", { routes: [{ route: "session://current" }] });
  expect(card).toContain("shop://tools/order/list");
  expect(card).toContain("shop://tools/hidden/ledger");
  expect(card).toContain("Rules for orders");
  expect(open.size).toBe(1);
  const [session = ""] = open;
  const { tokens } = (await gateway.report({ session })).ledger;
  expect(tokens.menu).toBeGreaterThan(300);
  expect(tokens.ask).toBeGreaterThan(20);
  const other = await connect(server, "2025-11-25");
  const empty = await call(other.client, "get", { routes: [{ route: "session://current" }] });
  expect(empty).toContain("Nothing has been unveiled");
  expect(open.size).toBe(2);
  await client.close();
  await expect.poll(() => [...open]).not.toContain(session);
});

verifies("session:implied", "a connection that outlasts its session gets another", async () => {
  const { sessions, open } = countedStore();
  const gateway = createGateway({ domains: createShop().domains, principal: clerk, sessions });
  const server = createMcpServer(gateway);
  onTestFinished(() => server.close());
  const { client } = await connect(server, "2025-11-25");
  await call(client, "ask", { query: "list orders" });
  const [first = ""] = open;
  (await gateway.session(first)).end();
  expect(await call(client, "ask", { query: "list orders" })).toContain("Rules for orders");
  expect([...open]).not.toContain(first);
});
