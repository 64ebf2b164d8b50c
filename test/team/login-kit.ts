import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { createRemoteJWKSet, jwtVerify } from "jose";
import type { Principal } from "keyhole";
import { serveConsole } from "keyhole/http";
import { createMcpServer } from "keyhole/mcp";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { openSqliteStorage } from "../../src/core/storage/sql-storage.ts";
import type { LoginPages } from "../../src/faces/http/login-pages.ts";
import type { McpServerConfig } from "../../src/sources/mcp/config/server-config.ts";
import { createLoginLinks } from "../../src/sources/mcp/login/login-links.ts";
import { createLogins } from "../../src/sources/mcp/login/logins.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import type { McpSourceOptions } from "../../src/sources/mcp/source-options.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { gatewayOf } from "../upstream-kit.ts";
import { type Issuer, type IssuerOptions, startIssuer } from "./issuer.ts";

export const SEAL_KEY = "a secret of the tests that seals logins";
export const ann: Principal = { id: "agent:ann", scopes: [], allowWrite: true };
export const bob: Principal = { id: "agent:bob", scopes: [], allowWrite: true };

/** Closes something at the end of the test. */
export function closing<T extends { close(): unknown }>(one: T): T {
  onTestFinished(async () => void (await one.close()));
  return one;
}

export async function issuerOf(options: IssuerOptions = {}): Promise<Issuer> {
  return closing(await startIssuer({ people: { ann: { groups: [] }, bob: { groups: [] } }, ...options }));
}

/** A protected MCP server that knows people by tokens of an issuer, or by keys. */
export interface Tracker {
  readonly url: string;
  /** Every request with its headers and body, as one text each. */
  readonly seen: string[];
  /** The person and the token of each request that was let in. */
  readonly calls: { readonly who: string; readonly token: string | undefined }[];
}

/** Starts a server whose tools say whose token or key a call has. Further tools are those of single people. */
export async function startTracker(
  issuer: Issuer,
  { keys = {}, only = {} }: { keys?: Record<string, string>; only?: Record<string, string> } = {},
): Promise<Tracker> {
  const seen: string[] = [];
  const calls: Tracker["calls"] = [];
  const handler = createMcpHandler(({ authInfo }) => {
    const who = authInfo?.clientId ?? "nobody";
    const server = new McpServer({ name: "tracker", version: "1.0.0" });
    const say = (words: string) => ({ content: [{ type: "text" as const, text: words }] });
    const inputSchema = z.object({ round: z.number().optional() });
    server.registerTool(
      "whoami",
      { description: "Says who calls.", inputSchema, annotations: { readOnlyHint: true } },
      ({ round = 0 }) => say(`You are ${who}, round ${round}.`),
    );
    if (only[who])
      server.registerTool(only[who], { description: "A tool of one person.", inputSchema }, () =>
        say("mine"),
      );
    return server;
  });
  const http = createServer(async (request, response) => {
    const body = await text(request);
    seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)} ${body}`);
    const who = await personOf(request);
    if (request.url?.startsWith("/.well-known/oauth-protected-resource"))
      return void response
        .writeHead(200, { "content-type": "application/json" })
        .end(
          JSON.stringify({ resource: url, authorization_servers: [issuer.url], scopes_supported: ["read"] }),
        );
    if (request.url !== "/mcp" || who === undefined)
      return void response
        .writeHead(request.url === "/mcp" ? 401 : 404, { "www-authenticate": `Bearer error="invalid_token"` })
        .end();
    calls.push({ who, token: request.headers.authorization });
    const sent = new Request(url, {
      method: request.method ?? "GET",
      headers: request.headers as Record<string, string>,
      ...(body && { body }),
    });
    const answer = await handler.fetch(sent, { authInfo: { token: "", clientId: who, scopes: [] } });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  closing({
    close: () => {
      http.closeAllConnections();
      http.close();
    },
  });
  const jwks = createRemoteJWKSet(new URL(`${issuer.url}/jwks`));

  async function personOf({ headers }: IncomingMessage): Promise<string | undefined> {
    const key = String(headers["x-api-key"] ?? "");
    if (Object.hasOwn(keys, key)) return keys[key];
    const token = headers.authorization?.replace("Bearer ", "") ?? "";
    const { payload } = await jwtVerify(token, jwks, { issuer: issuer.url, audience: url }).catch(() => ({
      payload: { sub: undefined },
    }));
    return payload.sub;
  }
  return { url, seen, calls };
}

interface TeamOptions extends McpSourceOptions {
  readonly file?: string;
  readonly sealKey?: string | [string, ...string[]];
  readonly whoIs?: LoginPages["whoIs"];
  readonly now?: () => number;
  /** The people by their bearer tokens. */
  readonly people?: Readonly<Record<string, Principal>>;
}

/** A gateway over HTTP with one server, for people who are known by bearer tokens. */
export async function openTeam(config: McpServerConfig, options: TeamOptions = {}) {
  const {
    file = join(temporaryFolder(), "keyhole.db"),
    sealKey = SEAL_KEY,
    whoIs,
    now,
    people,
    ...rest
  } = options;
  const callers = people ?? { "key-of-ann": ann, "key-of-bob": bob };
  const logins = closing(createLogins({ path: file, sealKey }));
  const storage = closing(openSqliteStorage(file));
  const links = createLoginLinks({ storage: storage.open, sealKey, ...(now && { now }) });
  const source = createMcpSource("tracker", config, {
    trusted: true,
    limits: { backoffMs: 20, startingMs: 5_000 },
    ...rest,
    logins,
    links,
  });
  const gateway = closing(gatewayOf([source], { principal: { id: "local", scopes: [], allowWrite: true } }));
  const server = closing(createMcpServer(gateway, {}));
  const http = closing(
    await serveConsole(gateway, server, {
      tokens: { find: (token) => callers[token] },
      logins: { links, ...(whoIs && { whoIs }) },
    }),
  );
  const origin = new URL(http.url).origin;
  return { source, gateway, logins, links, file, url: http.url, origin, api: apiOf(origin) };
}

/** Calls the API of a gateway with somebody's token. */
function apiOf(origin: string) {
  return async (token: string, path: string, body?: object) => {
    const response = await fetch(`${origin}${path}`, {
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  };
}

/** Connects a client that calls with a token. With `open` it opens pages for its person. */
export async function connect(
  url: string,
  token: string,
  { open, legacy = false }: { open?: (url: string) => Promise<"accept" | "decline">; legacy?: boolean } = {},
) {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    {
      capabilities: open ? { elicitation: { form: {}, url: {} } } : {},
      versionNegotiation: { mode: legacy ? "legacy" : "auto" },
    },
  );
  if (open)
    client.setRequestHandler("elicitation/create", async ({ params }) => ({
      action: await open((params as { url?: string }).url ?? ""),
    }));
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  const call = async (name: string, args: Record<string, unknown>) => {
    const { content } = await client.callTool({ name, arguments: args });
    return (content as { text?: string }[]).map((part) => part.text ?? "").join("\n");
  };
  return { client, call, whoami: (round = 0) => call("exec", { op: "tracker.whoami", args: { round } }) };
}

/** The link in an answer. */
export function linkIn(answer: string): string {
  const [link] = /http:\/\/127\.0\.0\.1:\d+\/login\?link=[\w.-]+/.exec(answer) ?? [];
  if (!link) throw new Error(`No link in: ${answer}`);
  return link;
}

/** A browser that keeps the cookies of one gateway. */
export function browser(origin: string) {
  const cookies = new Map<string, string>();
  const send = async (url: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { ...init, redirect: "manual", headers: { cookie, ...init.headers } });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const submit = (link: string, fields: Record<string, string> = {}, from = origin) =>
    send(`${origin}/login`, {
      method: "POST",
      headers: { origin: from, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ link: new URL(link).searchParams.get("link") ?? "", ...fields }).toString(),
    });
  return {
    cookies,
    open: (url: string) => send(url),
    submit,
    /** Presses the button of the page, and returns the address of the authorization server. */
    goOn: async (link: string): Promise<string> => {
      const { text } = await submit(link);
      return (/content="0;url=([^"]+)"/.exec(text)?.[1] ?? "").replaceAll("&amp;", "&");
    },
  };
}

/** A person who logs in by a link, as somebody at the authorization server. */
export async function logIn(link: string, issuer: Issuer, person: string) {
  const mine = browser(new URL(link).origin);
  const back = await issuer.login(await mine.goOn(link), person);
  return mine.open(back.href);
}
