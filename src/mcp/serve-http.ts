import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import type { Principal } from "../schema/principal.ts";
import { problem } from "../schema/problem.ts";
import { generateToken } from "../util/generate-token.ts";
import { reasonOf } from "../util/reason-of.ts";
import { createBearerCheck, type TokenFinder } from "./bearer.ts";
import { type CallerLimitOptions, createCallerLimits } from "./caller-limits.ts";
import { createHttpRoutes } from "./http-routes.ts";
import { jsonRpcError } from "./json-rpc-error.ts";
import type { McpServer } from "./mcp-server.ts";
import { writeResponse } from "./node-http.ts";
import { createOAuthGuard, type OAuthOptions } from "./oauth.ts";
import type { PlainAnswer } from "./post.ts";
import { tooLarge } from "./read-body.ts";
import {
  CHECK_MS,
  createBodyReader,
  HEADERS_MS,
  limitConnections,
  MAX_CONNECTIONS,
  REQUEST_MS,
} from "./receive.ts";
import { createRouter, type Mount, type Receive } from "./router.ts";
import type { Webhook } from "./webhooks.ts";

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
  /** Stops accepting requests, lets running ones finish, and ends the rest. */
  close(): Promise<void>;
}

const MAX_HOSTS = 64;

/** Counts requests of the server's own principal, which has no id here. */
const OWN = "own";

/**
 * Serves an MCP server over Streamable HTTP. No body is read before its caller is authenticated. See
 * {@link createMcpServer}.
 *
 * @throws INVALID_INPUT if `oauth` has no keys, a webhook has no secret, or two endpoints share a path.
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
  const running = new Map<ServerResponse, { readonly isStream: boolean }>();
  /** Spellings of the host that were right; every request of a client has the same. */
  const rightHosts = new Set<string>();
  let closing = false;

  const readBody = createBodyReader();

  async function authenticate(request: IncomingMessage) {
    const { headers } = request;
    const known = mount?.authenticate(request);
    if (known) return known instanceof Response ? known : { principal: known };
    if (!options.authenticate) return bearer(headers.authorization);
    const decided = await options.authenticate(headers);
    return decided instanceof Response ? decided : { principal: decided };
  }

  /** Counts a request of a caller until it is answered, or refuses it. */
  function enter(caller: string, isStream: boolean, response: ServerResponse): Response | undefined {
    // The client left during authentication; no close event will come.
    if (response.destroyed) return jsonRpcError(408, -32000, "The client is gone.");
    const entered = limits.enter(caller, isStream);
    if ("retryAfter" in entered) {
      return jsonRpcError(429, -32000, "Too many requests.", { "retry-after": String(entered.retryAfter) });
    }
    running.set(response, { isStream });
    response.once("close", () => {
      running.delete(response);
      entered.release();
      // http.close() does not close connections that become idle after it.
      if (closing) setImmediate(() => http.closeIdleConnections());
    });
    return undefined;
  }

  const receive: Receive = async ({ request, response }, { caller = OWN, isStream = false, maxBytes }) => {
    const body = request.method === "POST" ? await readBody(caller, request, maxBytes) : Buffer.alloc(0);
    return body ? (enter(caller, isStream, response) ?? body) : tooLarge(maxBytes);
  };

  const route = createRouter(
    [
      ...createHttpRoutes({ server, path, oauth, webhooks: options.webhooks, receive }),
      ...(mount?.routes(receive) ?? []),
    ],
    authenticate,
  );

  async function respond(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Response | PlainAnswer> {
    const { headers } = request;
    if (headers.host === undefined || !rightHosts.has(headers.host)) {
      const rightHost = validateHostHeader(headers.host, hosts);
      if (!rightHost.ok) return jsonRpcError(403, -32000, rightHost.message);
      if (headers.host !== undefined && rightHosts.size < MAX_HOSTS) rightHosts.add(headers.host);
    }
    const rightOrigin = validateOriginHeader(headers.origin, origins);
    if (!rightOrigin.ok) return jsonRpcError(403, -32000, rightOrigin.message);
    if (closing) return jsonRpcError(503, -32000, "Shutting down.", { "retry-after": "5" });
    return route(request, response);
  }

  const http = createServer(
    { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: CHECK_MS },
    (request, response) => {
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
    close: async () => {
      closing = true;
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
