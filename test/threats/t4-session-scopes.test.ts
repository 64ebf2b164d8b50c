import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, test } from "vitest";

const pay = defineTool({
  name: "pay_invoice",
  op: "money.invoice.pay",
  description: "Pays an invoice.",
  requiredScopes: ["pay"],
  execute: () => "paid",
});
const see = defineTool({
  name: "get_balance",
  op: "money.balance.get",
  description: "Shows the balance.",
  execute: () => "12",
});

const WIDE: Principal = { id: "ann", scopes: ["pay"], allowWrite: true };
const NARROW: Principal = { id: "ann", scopes: [], allowWrite: false };
const OTHER: Principal = { id: "bob", scopes: ["pay"], allowWrite: true };

async function openSession(first: Principal) {
  const gateway = createGateway({
    domains: [defineDomain({ name: "money", description: "Money.", tools: [pay, see] })],
  });
  const server = createMcpServer(gateway, { surface: "native" });
  const token = { principal: first };
  const transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    fetch: (url, init) => server.fetch(new Request(url, init as RequestInit), { ...token }),
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  await client.connect(transport);
  return { client, token, close: () => server.close().then(() => gateway.close()) };
}

async function listedAndPaid(client: Client): Promise<[string[], string]> {
  const { tools } = await client.listTools();
  const called = await client.callTool({ name: "money_invoice_pay", arguments: {} }).catch((error) => error);
  const text = called instanceof Error ? called.message : JSON.stringify(called.content);
  return [tools.map(({ name }) => name).sort(), text.includes("paid") ? "paid" : "refused"];
}

const BOTH = ["money_balance_get", "money_invoice_pay"];

test("T4: a session does not lend a later token the scopes of the token that opened it", async () => {
  const { client, token, close } = await openSession(WIDE);
  expect(await listedAndPaid(client)).toEqual([BOTH, "paid"]);
  token.principal = NARROW;
  expect(await listedAndPaid(client)).toEqual([["money_balance_get"], "refused"]);
  token.principal = WIDE;
  expect(await listedAndPaid(client)).toEqual([BOTH, "paid"]);
  await close();
});

test("T4: a token with more scopes gets them in a session that a lesser token opened", async () => {
  const { client, token, close } = await openSession(NARROW);
  expect(await listedAndPaid(client)).toEqual([["money_balance_get"], "refused"]);
  token.principal = WIDE;
  expect(await listedAndPaid(client)).toEqual([BOTH, "paid"]);
  await close();
});

test("T4: a session stays bound to the principal that opened it", async () => {
  const { client, token, close } = await openSession(WIDE);
  token.principal = OTHER;
  await expect(client.listTools()).rejects.toThrow();
  await close();
});
