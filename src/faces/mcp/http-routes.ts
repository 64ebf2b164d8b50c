import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { problem } from "../../base/problems/problem.ts";
import { isSameSecret } from "../../base/safety/same-secret.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { OAuthGuard } from "./bearer.ts";
import { toWebRequest } from "./http-messages.ts";
import type { McpServer } from "./mcp-server.ts";
import { addressedProfile, decode, enterProfile, profilePath, type ServedProfiles } from "./profiles.ts";
import { jsonRpcError, refusedCaller } from "./protocol-errors.ts";

interface HttpRouteParts {
  readonly server: McpServer;
  readonly profiles?: ServedProfiles | undefined;
  /** The path of the MCP endpoint. */
  readonly path: string;
  readonly oauth?: OAuthGuard | undefined;
  readonly webhooks?: Readonly<Record<string, Webhook>> | undefined;
  readonly receive: Receive;
}

/** Returns the table of HTTP endpoints: the metadata of OAuth, the webhooks, and MCP itself. */
export function createHttpRoutes({
  server,
  profiles,
  path,
  oauth,
  webhooks,
  receive,
}: HttpRouteParts): HttpRoute[] {
  const handle: HttpRoute["handle"] = async (exchange) => {
    const addressed = addressedProfile(exchange.request.url, path);
    const entered = await enterProfile(profiles, exchange.principal, addressed).catch(refusedCaller);
    if (entered instanceof Response) return entered;
    if (!entered) return answer(server, receive, exchange);
    return answer(entered.server, receive, { ...exchange, principal: entered.principal });
  };
  const paths = [path, ...(profiles ? [profilePath(path, ANY)] : [])];
  return [
    ...(oauth ? metadataRoutes(oauth, profiles !== undefined) : []),
    ...createWebhookRoutes(webhooks ?? {}, server.refreshSource, receive),
    ...paths.flatMap((path): HttpRoute[] => [
      { method: "POST", path, handle },
      { method: "GET", path, handle },
      { method: "DELETE", path, handle },
    ]),
  ];
}

/** The routes at which clients read which issuer they log in at, for the server and for each profile. */
function metadataRoutes({ metadata, metadataPaths }: OAuthGuard, hasProfiles: boolean): HttpRoute[] {
  const row = (path: string, handle: HttpRoute["handle"]): HttpRoute => ({
    method: "GET",
    path,
    open: true,
    handle,
  });
  const ofProfile: HttpRoute["handle"] = ({ request }) =>
    Response.json(metadata(decode(lastSegment(request))));
  return [
    ...metadataPaths.map((path) => row(path, () => Response.json(metadata()))),
    ...(hasProfiles ? [row(profilePath(metadataPaths.at(-1)!, ANY), ofProfile)] : []),
  ];
}

function listens({ method, headers }: IncomingMessage): boolean {
  return method === "GET" || (method === "POST" && headers["mcp-method"] === "subscriptions/listen");
}

/** Lets the MCP server answer. A client that hangs up cancels its call. */
async function answer(server: McpServer, receive: Receive, exchange: Exchange): Promise<Response> {
  const { request, response, principal } = exchange;
  const body = await receive(exchange, {
    caller: principal?.id,
    isStream: listens(request),
    maxBytes: server.maxBodyBytes,
  });
  if (body instanceof Response) return body;
  const gone = new AbortController();
  response.once("close", () => response.writableFinished || gone.abort());
  return server.fetch(toWebRequest(request, gone.signal), { body: body.toString(), principal });
}

/** As the last part of a path: any text there. */
const ANY = "*";

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "";
}

function lastSegment(request: IncomingMessage): string {
  const path = pathOf(request);
  return path.slice(path.lastIndexOf("/") + 1);
}

/** One row of the table of HTTP endpoints. A row without `open` needs an authenticated caller. */
export interface HttpRoute {
  readonly method: "GET" | "POST" | "DELETE";
  /** The exact path; `*` as its last part stands for any text. */
  readonly path: string;
  /** Answers without authentication. */
  readonly open?: true;
  handle(exchange: Exchange): Response | Promise<Response>;
}

/** One request on its way through a route. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Undefined on an open route, and where the server's own principal calls. */
  readonly principal: Principal | undefined;
}

/** Further endpoints of the server, with their own way to know a caller. */
export interface Mount {
  /** Served below the path: `/mcp/p/NAME`. Callers whose principal has a profile get only that one. */
  readonly profiles?: ServedProfiles | undefined;
  routes(receive: Receive): readonly HttpRoute[];
  /**
   * The caller that only this mount knows. Undefined: the server's own authentication decides. `isAgain` looks at a
   * request that is being answered, which must not lengthen a session.
   */
  authenticate(request: IncomingMessage, isAgain: boolean): Promise<Principal | Response | undefined>;
}

/** Returns the caller of a request, or the refusal. */
type Authenticate = (
  request: IncomingMessage,
) => Promise<{ readonly principal: Principal | undefined } | Response>;

/** Reads the body of a request and counts the request until it is answered, or returns the refusal. */
export type Receive = (
  exchange: Pick<Exchange, "request" | "response">,
  options: {
    readonly caller: string | undefined;
    /** Whether the answer is a stream that waits for news. Default: no. */
    readonly isStream?: boolean;
    readonly maxBytes: number;
  },
) => Promise<Buffer | Response>;

/**
 * Creates the function that answers requests by the table.
 *
 * @throws `INVALID_INPUT` if two rows have the same method and path.
 */
export function createRouter(
  routes: readonly HttpRoute[],
  authenticate: Authenticate,
): (request: IncomingMessage, response: ServerResponse) => Promise<Response> {
  const paths = new Map<string, Map<string, HttpRoute>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<string, HttpRoute>();
    if (methods.has(route.method)) {
      const reason = `two endpoints have the path ${route.path} (${route.method})`;
      throw problem("INVALID_INPUT", { operation: "serveHttp", reason });
    }
    paths.set(route.path, methods.set(route.method, route));
  }

  const notFound = `Not found. The endpoint is ${routes.find(({ open }) => !open)?.path}.`;

  return async (request, response) => {
    const path = pathOf(request);
    const methods = paths.get(path) ?? paths.get(path.replace(/[^/]+$/, ANY));
    if (!methods) return jsonRpcError(404, -32000, notFound);
    const route = methods.get(request.method ?? "");
    if (!route) {
      return jsonRpcError(405, -32000, "Method not allowed.", { allow: [...methods.keys()].join(", ") });
    }
    if (route.open) return route.handle({ request, response, principal: undefined });
    const caller = await authenticate(request);
    if (caller instanceof Response) return caller;
    return route.handle({ request, response, principal: caller.principal });
  };
}

/** A source that signed requests to one path refresh. */
export interface Webhook {
  /** The secret that the sender signs bodies with: HMAC SHA-256 in `X-Hub-Signature-256`. */
  readonly secret: string;
  /** The id of the source to refresh. */
  readonly source: string;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const REMEMBERED = 1_000;
const REMEMBERED_MS = 24 * 60 * 60_000;

/**
 * Creates the endpoints of webhooks. A body with the right signature starts a refresh and gets 202 at once. A repeated
 * body gets the same answer and starts nothing, so a recorded request is worthless.
 *
 * @throws `INVALID_INPUT` if a webhook has no secret.
 */
function createWebhookRoutes(
  webhooks: Readonly<Record<string, Webhook>>,
  refresh: (source: string) => Promise<void>,
  receive: Receive,
): HttpRoute[] {
  const seen = new LRUCache<string, true>({ max: REMEMBERED, ttl: REMEMBERED_MS });
  return Object.entries(webhooks).map(([path, { secret, source }]) => {
    if (secret === "") {
      const reason = `the webhook ${path} has no secret`;
      throw problem("INVALID_INPUT", { operation: "serveHttp", reason });
    }
    return {
      method: "POST",
      path,
      // The sender signs the body instead.
      open: true,
      handle: async (exchange) => {
        const signature = exchange.request.headers["x-hub-signature-256"];
        if (typeof signature !== "string") return plain(401, "X-Hub-Signature-256 is missing.");
        const body = await receive(exchange, { caller: `webhook ${path}`, maxBytes: MAX_BODY_BYTES });
        if (body instanceof Response) return body;
        if (!isSigned(body, secret, signature)) return plain(401, "The signature is wrong.");
        // GitHub's delivery id is in an unsigned header, so only the signature identifies a body.
        const key = `${source} ${signature}`;
        if (!seen.has(key)) {
          seen.set(key, true);
          // The gateway reports a failure as a notice and in the source's status; the sender can do nothing.
          void refresh(source).catch(() => seen.delete(key));
        }
        return plain(202, "Accepted.");
      },
    };
  });
}

function isSigned(body: Buffer, secret: string, signature: string): boolean {
  return isSameSecret(signature, `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
}

function plain(status: number, text: string): Response {
  return new Response(text, { status });
}
