import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { isProblem, problem } from "../../../base/problems/problem.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import type { Principal } from "../../../core/nouns/principal.ts";
import type { Exchange, HttpRoute, Receive } from "../../mcp/http-routes.ts";

/** One row of the JSON API. Its route and its part of the OpenAPI document are made from it. */
export interface Endpoint {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly title: string;
  /** Only principals with the admin scope may call it. */
  readonly admin?: true;
  /** The fields of the query string, or of the JSON body. */
  readonly input?: z.ZodType;
  /** The handler reads the input itself: the schema only describes it. */
  readonly readsInput?: true;
  /** The answer, where it is described. */
  readonly output?: z.ZodType;
  /** The answer is a stream of events. */
  readonly isStream?: true;
  /** Returns what becomes the JSON of the answer. */
  handle(call: EndpointCall): Promise<unknown>;
}

export interface EndpointCall {
  readonly input: unknown;
  readonly principal: Principal;
  readonly request: IncomingMessage;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

type Address = `${Endpoint["method"]} /${string}`;

/** A row without its address. The handler gets the input as its schema reads it. */
type EndpointRow<I extends z.ZodType> = Omit<Endpoint, "method" | "path" | "admin" | "input" | "handle"> & {
  readonly input?: I;
  handle(call: EndpointCall & { readonly input: z.output<I> }): Promise<unknown>;
};

/** Defines an endpoint for every caller. */
export function defineEndpoint<I extends z.ZodType>(address: Address, row: EndpointRow<I>): Endpoint {
  const [method, path] = address.split(" ", 2);
  return { method, path, ...row } as Endpoint;
}

/** Defines an endpoint for the people who run the gateway. */
export function defineAdminEndpoint<I extends z.ZodType>(address: Address, row: EndpointRow<I>): Endpoint {
  return { ...defineEndpoint(address, row), admin: true };
}

const MAX_BODY_BYTES = 1024 * 1024;

/** Answers must not be cached, read as another type, or loaded by other origins. */
const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

/** The HTTP status of problems that callers of the API meet. Any other is a 400. */
const STATUS: Readonly<Record<string, number>> = {
  ADMIN_NEEDED: 403,
  PROFILE_REFUSED: 403,
  NOT_FOUND: 404,
  UNAVAILABLE: 503,
  CLOSED: 503,
  CONFLICT: 409,
};

/** The route of an endpoint: checks the scope, reads the input, answers with JSON. Callers without a name are the owner. */
export function toRoute(endpoint: Endpoint, receive: Receive, owner: Principal): HttpRoute {
  const { method, path } = endpoint;
  return { method, path, handle: (exchange) => answer(endpoint, exchange, receive, owner) };
}

async function answer(
  endpoint: Endpoint,
  exchange: Exchange,
  receive: Receive,
  owner: Principal,
): Promise<Response> {
  const { request, response, principal = owner } = exchange;
  const isStream = endpoint.isStream ?? false;
  const body = await receive(exchange, { caller: principal.id, isStream, maxBytes: MAX_BODY_BYTES });
  if (body instanceof Response) return body;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    if (endpoint.admin && !isAdmin(principal))
      throw problem("ADMIN_NEEDED", { name: endpoint.path, scope: ADMIN_SCOPE });
    const sent = endpoint.method === "GET" ? fromQuery(request) : fromBody(request, body);
    const input = endpoint.input && !endpoint.readsInput ? read(endpoint.input, sent) : sent;
    const result = await endpoint.handle({ input, principal, request, signal: gone.signal });
    return result instanceof Response ? result : Response.json(result ?? {}, { headers: HEADERS });
  } catch (error) {
    return toRefusal(error);
  }
}

function toRefusal(error: unknown): Response {
  const { code, message, next } = isProblem(error)
    ? error
    : { code: "INTERNAL", message: reasonOf(error), next: "Look into the log of the gateway." };
  const status = isProblem(error) ? (STATUS[code] ?? 400) : 500;
  return Response.json({ ok: false, error: { code, message, next } }, { status, headers: HEADERS });
}

function fromQuery({ url = "" }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(url.split("?", 2)[1] ?? ""));
}

/** Other content types need no preflight in browsers, so only JSON is read. */
function fromBody({ headers }: IncomingMessage, body: Buffer): unknown {
  if (!/^application\/json\b/i.test(headers["content-type"] ?? "")) throw wrongInput("the body is not JSON");
  try {
    return body.length === 0 ? {} : JSON.parse(body.toString());
  } catch {
    throw wrongInput("the body is not JSON");
  }
}

function read(schema: z.ZodType, sent: unknown): unknown {
  const parsed = schema.safeParse(sent);
  if (parsed.success) return parsed.data;
  throw wrongInput(z.prettifyError(parsed.error));
}

function wrongInput(reason: string) {
  return problem("INVALID_INPUT", { operation: "the API", reason });
}

/** The scope of people who run the gateway: they see all callers, approve, start and refresh. */
export const ADMIN_SCOPE = "keyhole:admin";

export function isAdmin({ scopes }: Principal): boolean {
  return scopes.includes(ADMIN_SCOPE);
}
