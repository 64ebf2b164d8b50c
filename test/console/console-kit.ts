import { createGateway, type Gateway, type GatewayOptions, type Principal } from "keyhole";
import { type ConsoleOptions, type ConsoleServer, serveConsole } from "keyhole/http";
import { createMcpServer, type McpServerOptions } from "keyhole/mcp";
import { createMemoryAuditStore } from "../audit-kit.ts";
import { auditor, type Calls, clerk, createShop, reader } from "../shop.ts";

/** A gateway of the shop with the console, and ways to ask it. */
export interface ServedShop {
  readonly gateway: Gateway;
  readonly http: ConsoleServer;
  readonly origin: string;
  /** The record of the shop's tools. */
  readonly calls: Calls;
  /** Asks as a bearer: `clerk`, `reader` or `auditor`. */
  as(id: string, path: string, body?: object): Promise<Response>;
  /** Opens the console by its link. */
  open(): Promise<Person>;
  close(): Promise<void>;
}

/** A person with a session of the console. */
export interface Person {
  readonly cookie: string;
  readonly half: string;
  send(path: string, body?: object, headers?: Record<string, string>): Promise<Response>;
  json<T = Record<string, unknown>>(path: string, body?: object): Promise<T>;
}

const CALLERS: readonly Principal[] = [clerk, reader, auditor];

export async function serveShop(
  options: Partial<GatewayOptions> = {},
  consoleOptions: ConsoleOptions = {},
  serverOptions: McpServerOptions = {},
): Promise<ServedShop> {
  const { domains, calls } = createShop();
  const gateway = createGateway({
    principal: clerk,
    audit: { store: createMemoryAuditStore() },
    ...options,
    domains: [...domains, ...(options.domains ?? [])],
  });
  const server = createMcpServer(gateway, { debounceMs: 10, ...serverOptions });
  const http = await serveConsole(gateway, server, {
    drainMs: 0,
    principals: () => CALLERS,
    authenticate: async ({ authorization }) =>
      CALLERS.find(({ id }) => authorization === `Bearer ${id}`) ?? new Response(null, { status: 401 }),
    ...consoleOptions,
  });
  const { origin } = new URL(http.url);
  return {
    gateway,
    http,
    origin,
    calls,
    as: (id, path, body) => send(`${origin}${path}`, body, { authorization: `Bearer ${id}` }),
    open: () => openConsole(http.consoleLink),
    close: async () => {
      await http.close();
      await server.close();
      await gateway.close();
    },
  };
}

export async function openConsole(link: string): Promise<Person> {
  const { origin } = new URL(link);
  const opened = await exchange(link);
  const { half } = (await opened.json()) as { half: string };
  const cookie = opened.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const ask = (path: string, body?: object, headers: Record<string, string> = {}) =>
    send(`${origin}${path}`, body, { cookie, "x-keyhole-console": half, ...headers });
  return {
    cookie,
    half,
    send: ask,
    json: async <T>(path: string, body?: object) => (await ask(path, body)).json() as Promise<T>,
  };
}

/** Sends the code of a link, as the console's page does. */
export function exchange(link: string, headers: Record<string, string> = {}): Promise<Response> {
  const { origin, hash } = new URL(link);
  const code = hash.split("/").at(-1);
  return send(`${origin}/console/session`, { code }, { origin, ...headers });
}

function send(url: string, body: object | undefined, headers: Record<string, string>): Promise<Response> {
  return fetch(url, {
    method: body ? "POST" : "GET",
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
}
