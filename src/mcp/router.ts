import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "../schema/principal.ts";
import { problem } from "../schema/problem.ts";
import { jsonRpcError } from "./json-rpc-error.ts";
import type { PlainAnswer } from "./post.ts";

/** One row of the table of HTTP endpoints. A row without `open` needs an authenticated caller. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** Answers without authentication. */
  readonly open?: true;
  handle(exchange: Exchange): Response | Promise<Response | PlainAnswer>;
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
  routes(receive: Receive): readonly Route[];
  /** The caller that only this mount knows. Undefined: the server's own authentication decides. */
  authenticate(request: IncomingMessage): Principal | Response | undefined;
}

/** Returns the caller of a request, or the refusal. */
export type Authenticate = (
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
  routes: readonly Route[],
  authenticate: Authenticate,
): (request: IncomingMessage, response: ServerResponse) => Promise<Response | PlainAnswer> {
  const paths = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<string, Route>();
    if (methods.has(route.method)) {
      const reason = `two endpoints have the path ${route.path} (${route.method})`;
      throw problem("INVALID_INPUT", { operation: "serveHttp", reason });
    }
    paths.set(route.path, methods.set(route.method, route));
  }

  const notFound = `Not found. The endpoint is ${routes.find(({ open }) => !open)?.path}.`;

  return async (request, response) => {
    const methods = paths.get(request.url?.split("?", 1)[0] ?? "");
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
