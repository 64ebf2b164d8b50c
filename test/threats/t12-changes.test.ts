import { readFileSync } from "node:fs";
import { createGateway, type DomainDefinition, defineDomain, defineResource, type Principal } from "keyhole";
import { createMcpServer, type McpServer } from "keyhole/mcp";
import { expect, test } from "vitest";
import { connectHttp, ERAS, type Era } from "../mcp/connect.ts";
import { eventually } from "../upstream-kit.ts";

const READER: Principal = { id: "reader", scopes: [], allowWrite: false };
const CHIEF: Principal = { id: "chief", scopes: ["chief"], allowWrite: false };
const SECRET = "vault://resources/secret";
const PAPER = "desk://resources/paper";

function domains(secret: string, paper: string): DomainDefinition[] {
  const page = (route: string, content: string) =>
    defineResource({ route, name: route.slice(-6), description: `About ${content}.`, fetch: () => content });
  return [
    defineDomain({
      name: "vault",
      description: "Secrets.",
      requiredScopes: ["chief"],
      resources: [page(SECRET, secret)],
    }),
    defineDomain({ name: "desk", description: "Papers.", resources: [page(PAPER, paper)] }),
  ];
}

/** Subscribes to everything and collects the notices. */
async function listen(server: McpServer, era: Era, principal: Principal): Promise<string[]> {
  return era === "2026-07-28" ? listenModern(server, principal) : listenLegacy(server, principal);
}

async function listenLegacy(server: McpServer, principal: Principal): Promise<string[]> {
  const heard: string[] = [];
  const { client } = await connectHttp(server, "2025-11-25", { principal });
  client.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => void heard.push(params.uri),
  );
  client.setNotificationHandler("notifications/resources/list_changed", () => void heard.push("resources"));
  client.setNotificationHandler("notifications/prompts/list_changed", () => void heard.push("prompts"));
  client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("tools"));
  for (const uri of [SECRET, PAPER]) await client.subscribeResource({ uri });
  return heard;
}

async function listenModern(server: McpServer, principal: Principal): Promise<string[]> {
  const heard: string[] = [];
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const notifications = {
    resourceSubscriptions: [SECRET, PAPER],
    resourcesListChanged: true,
    promptsListChanged: true,
    toolsListChanged: true,
  };
  const request = new Request("http://localhost/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "subscriptions/listen",
      params: { notifications, _meta },
    }),
  });
  const response = await server.fetch(request, { principal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader.read();
  expect(first.value).toContain("acknowledged");
  void (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      for (const [, uri, kind] of part.value.matchAll(/"uri":"([^"]+)"|notifications\/(\w+)\/list_changed/g))
        heard.push((uri ?? kind)!);
    }
  })();
  return heard;
}

test.each(ERAS)("T12: clients of %s hear nothing of documents that they may not see", async (era) => {
  const gateway = createGateway({ domains: domains("one", "one"), principal: CHIEF });
  const server = createMcpServer(gateway, { debounceMs: 5 });
  const reader = await listen(server, era, READER);
  const chief = await listen(server, era, CHIEF);

  await gateway.setDomains(domains("two", "one"));
  await eventually(() => expect(chief).toContain(SECRET));
  await gateway.setDomains(domains("two", "two"));
  await eventually(() => expect(reader).toContain(PAPER));
  await eventually(() => expect(chief).toContain(PAPER));

  expect(reader.sort()).toEqual([PAPER, "resources"]);
  expect(chief.sort()).toEqual([PAPER, "resources", "resources", SECRET]);
  await server.close();
  await gateway.close();
});

test("T12: the server's version is the program's, whatever the catalog holds", async () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  for (const [secret, era] of [
    ["one", ERAS[0]],
    ["two", ERAS[1]],
  ] as const) {
    const gateway = createGateway({ domains: domains(secret, "one") });
    const server = createMcpServer(gateway);
    const { client } = await connectHttp(server, era, { principal: READER });
    expect(client.getServerVersion()).toMatchObject({ name: "keyhole", version });
    await client.close();
    await server.close();
    await gateway.close();
  }
});
