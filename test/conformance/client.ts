// The client that the official suite tests: an upstream of a gateway. Usage: client.ts URL
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createGateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import type { McpServerConfig } from "../../src/sources/mcp/config/server-config.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";

interface Context
  extends Partial<Record<"client_id" | "client_secret" | "private_key_pem" | "signing_algorithm", string>> {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
}

/** Logins for one purpose before the person gives up. */
const MOST_LOGINS = 3;
const url = process.argv.at(-1) ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as Context;

const source = createMcpSource("tested", { url, oauth: oauthOf() } as McpServerConfig, { trusted: true });
const gateway = createGateway({
  domains: [],
  sources: [source],
  principal: { id: "person", scopes: [], allowWrite: true },
});

if (process.env.MCP_CONFORMANCE_SCENARIO === "sep-2322-client-request-state") {
  await callWithAnswers();
  await gateway.close();
  process.exit();
}

let logins = 0;
await source.refresh().catch(() => {});
while (
  (source.diagnostics().status?.state === "needs_login" || (await callTools())) &&
  logins < MOST_LOGINS
) {
  logins += 1;
  await source.logIn({ onUrl: logInAt }).catch((error: unknown) => {
    console.error(error);
    logins = MOST_LOGINS;
  });
}
await gateway.close();

/** Connects a client that agrees to everything, because the gateway passes a server's questions to its client. */
async function callWithAnswers(): Promise<void> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  createMcpServer(gateway, { surface: "native" }).connect(far);
  const client = new Client(
    { name: "person", version: "1" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", async () => ({
    action: "accept",
    content: { confirmed: true },
  }));
  await client.connect(near);
  for (const { name } of (await client.listTools()).tools)
    console.log(JSON.stringify(await client.callTool({ name, arguments: {} })));
  await client.close();
}

/** True if a tool demands a login with more scopes. */
async function callTools(): Promise<boolean> {
  await gateway.ready();
  const { entries } = await gateway.view();
  const tools = entries.filter(({ kind }) => kind === "tool");
  const calls =
    context.toolCalls?.map((call) => ({
      op: tools.find(({ name }) => name === call.name)?.op ?? call.name,
      // The gateway refuses values outside of the schema, such as null for a text, so they are left out.
      args: Object.fromEntries(Object.entries(call.arguments).filter(([, value]) => value !== null)),
    })) ?? tools.map(({ op, inputSchema }) => ({ op, args: argsOf(inputSchema) }));
  for (const call of calls) {
    const answer = await gateway.exec({ ...call, dryRun: false });
    console.log(answer.text);
    if (!answer.ok && ["LOGIN_NEEDED", "UNAVAILABLE"].includes(answer.error.code)) return true;
  }
  return false;
}

function argsOf(schema: object): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  const values: Record<string, unknown> = { number: 5, integer: 5, boolean: true, array: [], object: {} };
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type = "string" }]) => [name, values[type] ?? "text"]),
  );
}

/** The authorization server of the suite agrees to everything at once. */
async function logInAt(authorization: URL): Promise<void> {
  const answer = await fetch(authorization, { redirect: "manual" });
  const location = answer.headers.get("location");
  if (location) void fetch(location).catch(() => {});
}

function oauthOf(): Record<string, unknown> {
  const { client_id, client_secret, private_key_pem, signing_algorithm } = context;
  return {
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    ...(client_id && { clientId: client_id }),
    ...(client_secret && { clientSecret: client_secret }),
    ...(private_key_pem && { privateKey: private_key_pem, algorithm: signing_algorithm }),
    ...(process.env.MCP_CONFORMANCE_SCENARIO?.includes("client-credentials") && {
      grant: "client_credentials",
    }),
  };
}
