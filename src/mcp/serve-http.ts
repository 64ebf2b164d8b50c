import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import type { Principal } from "../schema/principal.ts";
import { createBearerCheck, generateToken } from "./bearer.ts";
import { type CallerLimitOptions, createCallerLimits } from "./caller-limits.ts";
import { jsonRpcError } from "./json-rpc-error.ts";
import type { McpServer } from "./mcp-server.ts";
import { readBytes, toWebRequest, writeResponse } from "./node-http.ts";
import { createOAuthGuard, type OAuthOptions } from "./oauth.ts";
import { tooLarge } from "./read-body.ts";
import { createWebhooks, type Webhook } from "./webhooks.ts";

export interface HttpOptions {
  /** Default: 127.0.0.1, for this machine only. */
  readonly host?: string;
  /** Default: any that is free. */
  readonly port?: number;
  /** Default: `/mcp`. */
  readonly path?: string;
  /** Host names that requests may be addressed to. Default: those of this machine. */
  readonly allowedHosts?: readonly string[];
  /** Host names of the web pages that may call. Default: those of this machine. */
  readonly allowedOrigins?: readonly string[];
  /** The bearer token that lets in. Without it, and without `oauth`, one is generated. */
  readonly token?: string;
  /** Who the token stands for. Default: the server's own principal. */
  readonly principal?: Principal;
  readonly oauth?: OAuthOptions;
  /** Decides in the place of both: who calls, or the refusal. */
  readonly authenticate?: (headers: IncomingMessage["headers"]) => Promise<Principal | Response>;
  readonly limits?: CallerLimitOptions;
  /** By path: what a signed request there sets off. They need no token. */
  readonly webhooks?: Readonly<Record<string, Webhook>>;
  /** Milliseconds that calls have to finish when it closes. Default: 5,000. */
  readonly drainMs?: number;
}

export interface HttpServer {
  readonly url: string;
  /** The token that was generated, to be shown once. */
  readonly token?: string;
  /** Takes no more requests, lets those that run finish, and ends the rest. */
  close(): Promise<void>;
}

const OWN = "own";

/** Serves an MCP server over Streamable HTTP. Nothing is read of a request before it is let in. */
export async function serveHttp(server: McpServer, options: HttpOptions = {}): Promise<HttpServer> {
  const { host = "127.0.0.1", path = "/mcp", drainMs = 5_000 } = options;
  const oauth = options.oauth && createOAuthGuard(options.oauth);
  const generated = options.token || oauth || options.authenticate ? undefined : generateToken();
  const bearer = createBearerCheck({
    token: options.token ?? generated,
    principal: options.principal,
    oauth,
  });
  const limits = createCallerLimits(options.limits);
  const webhooks = createWebhooks(options.webhooks ?? {}, server.refreshSource);
  const hosts = [...(options.allowedHosts ?? localhostAllowedHostnames())];
  const origins = [...(options.allowedOrigins ?? localhostAllowedOrigins())];
  const running = new Map<ServerResponse, { readonly lasting: boolean }>();
  let closing = false;

  async function authenticate({ headers }: IncomingMessage) {
    if (!options.authenticate) return bearer(headers.authorization);
    const decided = await options.authenticate(headers);
    return decided instanceof Response ? decided : { principal: decided };
  }

  /** Counts a request among those of its caller until it is answered, or refuses it. */
  function enter(caller: string, lasting: boolean, response: ServerResponse): Response | undefined {
    // Who hung up while it was looked up who it is has no more events, and would be counted for ever.
    if (response.destroyed) return jsonRpcError(408, -32000, "The client is gone.");
    const entered = limits.enter(caller, lasting);
    if ("retryAfter" in entered) {
      return jsonRpcError(429, -32000, "Too many requests.", { "retry-after": String(entered.retryAfter) });
    }
    running.set(response, { lasting });
    response.once("close", () => {
      running.delete(response);
      entered.release();
      // A connection that falls idle after the shutdown began is not closed by it.
      if (closing) setImmediate(() => http.closeIdleConnections());
    });
    return undefined;
  }

  /** Lets the server answer; whoever hangs up cancels what it asked for. */
  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    principal: Principal | undefined,
  ): Promise<Response> {
    const bytes = request.method === "POST" ? await readBytes(request, server.maxBodyBytes) : Buffer.alloc(0);
    if (!bytes) return tooLarge(server.maxBodyBytes);
    const gone = new AbortController();
    response.once("close", () => response.writableFinished || gone.abort());
    return server.fetch(toWebRequest(request, gone.signal), {
      body: bytes.toString(),
      ...(principal && { principal }),
    });
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<Response> {
    const { headers } = request;
    const rightHost = validateHostHeader(headers.host, hosts);
    if (!rightHost.ok) return jsonRpcError(403, -32000, rightHost.message);
    const rightOrigin = validateOriginHeader(headers.origin, origins);
    if (!rightOrigin.ok) return jsonRpcError(403, -32000, rightOrigin.message);
    if (closing) return jsonRpcError(503, -32000, "Shutting down.", { "retry-after": "5" });

    const pathname = request.url?.split("?", 1)[0] ?? "";
    const document = oauth?.metadata.get(pathname);
    if (document && request.method === "GET") return Response.json(document);
    const webhook = webhooks.get(pathname);
    if (webhook) return enter(`webhook ${pathname}`, false, response) ?? webhook(request);
    if (pathname !== path) return jsonRpcError(404, -32000, `Not found. The endpoint is ${path}.`);

    const caller = await authenticate(request);
    if (caller instanceof Response) return caller;
    const lasting = request.method === "GET" || headers["mcp-method"] === "subscriptions/listen";
    const refusal = enter(caller.principal?.id ?? OWN, lasting, response);
    if (refusal) return refusal;
    return answer(request, response, caller.principal);
  }

  const http = createServer((request, response) => {
    respond(request, response)
      // What the client may still be sending is not read, so the connection is of no more use.
      .then((answered) => writeResponse(response, answered, !request.complete))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    http.on("error", reject);
    http.listen(options.port ?? 0, host, resolve);
  });
  const { port } = http.address() as AddressInfo;

  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}${path}`,
    ...(generated && { token: generated }),
    close: async () => {
      closing = true;
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      http.closeIdleConnections();
      // Streams that only wait for news would never end by themselves.
      for (const [response, { lasting }] of running) if (lasting) response.destroy();
      const timer = setTimeout(() => http.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
