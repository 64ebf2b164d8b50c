import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { singleFlight } from "../../base/util/single-flight.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { createBearerCheck, createOAuthGuard, type OAuthOptions, type TokenFinder } from "./bearer.ts";
import { type CallerLimitOptions, createCallerLimits } from "./caller-limits.ts";
import { generateToken } from "./generate-token.ts";
import { readBytes, tooLarge, writeResponse } from "./http-messages.ts";
import {
  createHttpRoutes,
  createRouter,
  type Exchange,
  type Mount,
  type Receive,
  type Webhook,
} from "./http-routes.ts";
import type { McpServer } from "./mcp-server.ts";
import { addressedProfile } from "./profiles.ts";
import { jsonRpcError } from "./protocol-errors.ts";

/** Options of {@link serveHttp}. */
export interface HttpOptions {
  /** Address to listen on. Default: 127.0.0.1, for this machine only. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Path of the MCP endpoint. Default: `/mcp`. */
  readonly path?: string;
  /** Host names that requests may be addressed to. Default: those of this machine. */
  readonly allowedHosts?: readonly string[];
  /** Host names of the web pages that may call. Default: those of this machine. */
  readonly allowedOrigins?: readonly string[];
  /** The bearer token of callers. Without it, and without `oauth`, one is generated. */
  readonly token?: string;
  /** The principal that the token stands for. Default: the server's own principal. */
  readonly principal?: Principal;
  /** Accepts more tokens, each with a principal of its own. */
  readonly tokens?: TokenFinder;
  /** Accepts tokens of an OAuth issuer. */
  readonly oauth?: OAuthOptions;
  /** Replaces `token`, `tokens` and `oauth`: returns the caller, or the refusal. */
  readonly authenticate?: (headers: IncomingMessage["headers"]) => Promise<Principal | Response>;
  /** Limits for each caller. */
  readonly limits?: CallerLimitOptions;
  /** By path: the source that a signed request refreshes. Webhooks need no token. */
  readonly webhooks?: Readonly<Record<string, Webhook>>;
  /** Milliseconds that running calls have to finish on close. Default: 5,000. */
  readonly drainMs?: number;
}

/** A server that {@link serveHttp} started. */
export interface HttpServer {
  readonly url: string;
  /** The generated token, to be shown once. */
  readonly token?: string;
  /**
   * Prepares the end behind a balancer: requests are still answered, and each connection ends with its answer. The
   * probe `/readyz` of {@link serveConsole} says no from now on.
   */
  drain(): void;
  /** Stops accepting requests, lets running ones finish, and ends the rest. */
  close(): Promise<void>;
}

/** How long an answer goes on after its key was revoked. */
const REVOKED_MS = 500;
/** Counts requests of the server's own principal, which has no id here. */
const OWN = "own";

/**
 * Serves an MCP server over Streamable HTTP. No body is read before its caller is authenticated. See
 * {@link createMcpServer}.
 *
 * @throws INVALID_INPUT if a webhook has no secret, or two endpoints share a path.
 *   ADDRESS_UNAVAILABLE if the server cannot listen there
 * @example
 * ```ts
 * import { createGateway } from "keyhole";
 * import { createMcpServer, serveHttp } from "keyhole/mcp";
 *
 * const gateway = createGateway({ domains: [] });
 * const http = await serveHttp(createMcpServer(gateway));
 * console.log(`${http.url} with the token ${http.token}`);
 * await http.close();
 * await gateway.close();
 * ```
 */
export async function serveHttp(server: McpServer, options: HttpOptions = {}): Promise<HttpServer> {
  return listen(server, options);
}

/** Like {@link serveHttp}, with further endpoints beside that of MCP. */
export async function listen(
  server: McpServer,
  options: HttpOptions = {},
  mount?: Mount,
): Promise<HttpServer> {
  const { host = "127.0.0.1", path = "/mcp", drainMs = 5_000 } = options;
  const oauth = options.oauth && createOAuthGuard(options.oauth);
  const generated = options.token || oauth || options.authenticate ? undefined : generateToken();
  const bearer = createBearerCheck({
    token: options.token ?? generated,
    principal: options.principal,
    tokens: options.tokens,
    oauth,
  });
  const limits = createCallerLimits(options.limits);
  const hosts = [...(options.allowedHosts ?? localhostAllowedHostnames())];
  const origins = [...(options.allowedOrigins ?? localhostAllowedOrigins())];
  const running = new Map<
    ServerResponse,
    { readonly request: IncomingMessage; readonly isStream: boolean }
  >();
  /** The callers of requests that needed one. */
  const callers = new WeakMap<IncomingMessage, string>();
  let closing = false;
  let draining = false;

  const readBody = createBodyReader();

  async function identify(request: IncomingMessage, isAgain = false) {
    const { headers } = request;
    const fromMount = await mount?.authenticate(request, isAgain);
    if (fromMount) return fromMount instanceof Response ? fromMount : { principal: fromMount };
    if (!options.authenticate) return bearer(headers.authorization, addressedProfile(request.url, path));
    const decided = await options.authenticate(headers);
    return decided instanceof Response ? decided : { principal: decided };
  }

  async function authenticate(request: IncomingMessage) {
    const caller = await identify(request);
    if (!(caller instanceof Response)) callers.set(request, caller.principal?.id ?? OWN);
    return caller;
  }

  /** Ends every answer whose caller would be refused now: their key was revoked, or is too old. */
  const endRevoked = singleFlight(async () => {
    for (const [response, { request }] of running) {
      const caller = callers.get(request);
      if (caller === undefined) continue;
      const now = await identify(request, true).catch(reasonOf);
      const isSame = typeof now === "object" && "principal" in now && (now.principal?.id ?? OWN) === caller;
      if (!isSame) response.destroy();
    }
  });
  const looking = setInterval(() => void endRevoked(), REVOKED_MS).unref();

  /** Counts a request of a caller until it is answered, or refuses it. */
  function enter(
    caller: string,
    isStream: boolean,
    { request, response }: Pick<Exchange, "request" | "response">,
  ): Response | undefined {
    // The client left during authentication; no close event will come.
    if (response.destroyed) return jsonRpcError(408, -32000, "The client is gone.");
    const entered = limits.enter(caller, isStream);
    if ("retryAfter" in entered) {
      return jsonRpcError(429, -32000, "Too many requests.", { "retry-after": String(entered.retryAfter) });
    }
    running.set(response, { request, isStream });
    response.once("close", () => {
      running.delete(response);
      entered.release();
      // http.close() does not close connections that become idle after it.
      if (closing) setImmediate(() => http.closeIdleConnections());
    });
    return undefined;
  }

  const receive: Receive = async (exchange, { caller = OWN, isStream = false, maxBytes }) => {
    const { request } = exchange;
    const body = request.method === "POST" ? await readBody(caller, request, maxBytes) : Buffer.alloc(0);
    return body ? (enter(caller, isStream, exchange) ?? body) : tooLarge(maxBytes);
  };

  const route = createRouter(
    [
      ...createHttpRoutes({
        server,
        path,
        oauth,
        receive,
        profiles: mount?.profiles,
        webhooks: options.webhooks,
      }),
      ...(mount?.routes(receive) ?? []),
    ],
    authenticate,
  );

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<Response> {
    const foreign = refuseForeign(request, hosts, origins);
    if (foreign) return foreign;
    if (closing) return jsonRpcError(503, -32000, "Shutting down.", { "retry-after": "5" });
    return route(request, response);
  }

  const http = createServer(
    { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: CHECK_MS },
    (request, response) => {
      if (draining) response.shouldKeepAlive = false;
      respond(request, response)
        // The rest of an unread body makes the connection unusable, and strangers keep none open.
        .then((answered) => writeResponse(response, answered, !request.complete || !running.has(response)))
        .catch(() => response.destroy());
    },
  );
  limitConnections(http);
  await new Promise<void>((resolve, reject) => {
    http.on("error", (error) => reject(cannotListen(host, options.port ?? 0, error)));
    http.listen({ port: options.port ?? 0, host, backlog: MAX_CONNECTIONS }, resolve);
  });
  const { port } = http.address() as AddressInfo;

  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}${path}`,
    ...(generated && { token: generated }),
    drain: () => {
      draining = true;
    },
    close: async () => {
      closing = true;
      clearInterval(looking);
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      http.closeIdleConnections();
      // Streams that wait for news would never end by themselves.
      for (const [response, { isStream }] of running) if (isStream) response.destroy();
      const timer = setTimeout(() => http.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Refuses requests for another host, or from the pages of another site. */
function refuseForeign(
  { headers, headersDistinct }: IncomingMessage,
  hosts: string[],
  origins: string[],
): Response | undefined {
  // Node reads the first of two; something in front of it may read the other.
  if ((headersDistinct.host?.length ?? 0) > 1) return jsonRpcError(400, -32000, "Two Host headers.");
  const rightHost = validateHostHeader(headers.host, hosts);
  if (!rightHost.ok) return jsonRpcError(403, -32000, rightHost.message);
  const rightOrigin = validateOriginHeader(headers.origin, origins);
  return rightOrigin.ok ? undefined : jsonRpcError(403, -32000, rightOrigin.message);
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses the port",
  EACCES: "this user may not use the port",
  EADDRNOTAVAIL: "it is no address of this machine",
  ENOTFOUND: "the name does not resolve",
  EAI_AGAIN: "the name does not resolve",
};

function cannotListen(host: string, port: number, error: NodeJS.ErrnoException): Error {
  const reason = REASONS[error.code ?? ""] ?? reasonOf(error);
  return problem("ADDRESS_UNAVAILABLE", { address: `${host}:${port}`, reason }, { code: error.code });
}

/** How long a client may take to send its headers, and a whole request. A busy server may read them late. */
const HEADERS_MS = 30_000;
const REQUEST_MS = 60_000;
/** How often the deadlines are checked. */
const CHECK_MS = 1_000;

/** More than honest clients open in one moment. */
const MAX_CONNECTIONS = 2_048;
/** More than a caller may run at a time. */
const MAX_BODIES = 64;

/** Limits connections that have not sent the headers of their first request. */
function limitConnections(http: Server): void {
  // The other half is for requests that run.
  const limit = Math.min(MAX_CONNECTIONS, Math.floor(descriptorLimit() / 2));
  const unfinished = new Unfinished<Socket>(limit, (socket) => socket.destroy());
  http.on("connection", (socket) => {
    unfinished.add(socket);
    socket.once("close", () => unfinished.delete(socket));
  });
  http.on("request", ({ socket }) => unfinished.delete(socket));
}

/** Reads bodies. Unfinished bodies do not count as calls; beyond the limit of a caller its oldest is dropped. */
function createBodyReader() {
  const callers = new Map<string, Unfinished<IncomingMessage>>();
  return async (caller: string, request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> => {
    const bodies = callers.get(caller) ?? new Unfinished(MAX_BODIES, (oldest) => oldest.destroy());
    callers.set(caller, bodies);
    bodies.add(request);
    try {
      return await readBytes(request, maxBytes);
    } finally {
      bodies.delete(request);
      if (bodies.size === 0) callers.delete(caller);
    }
  };
}

const USUAL = 1_024;

/** How many files and sockets this process may have open. */
function descriptorLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? USUAL : Number(soft);
  } catch {
    // Only Linux has the file.
    return USUAL;
  }
}

/** Connections or requests that are not complete yet. Beyond the limit, the oldest gives way to the newest. */
export class Unfinished<T> extends Set<T> {
  readonly #limit: number;
  readonly #end: (oldest: T) => void;

  constructor(limit: number, end: (oldest: T) => void) {
    super();
    this.#limit = limit;
    this.#end = end;
  }

  override add(item: T): this {
    super.add(item);
    const [oldest] = this;
    if (this.size > this.#limit && oldest !== undefined && this.delete(oldest)) this.#end(oldest);
    return this;
  }
}
