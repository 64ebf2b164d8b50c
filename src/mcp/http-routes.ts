import type { IncomingMessage } from "node:http";
import type { McpServer } from "./mcp-server.ts";
import { toWebRequest } from "./node-http.ts";
import type { OAuthGuard } from "./oauth.ts";
import { answerPostOf, type PlainAnswer } from "./post.ts";
import type { Exchange, Receive, Route } from "./router.ts";
import { createWebhooks, type Webhook } from "./webhooks.ts";

/** The parts that {@link createHttpRoutes} builds endpoints from. */
export interface HttpRouteParts {
  readonly server: McpServer;
  /** The path of the MCP endpoint. */
  readonly path: string;
  readonly oauth?: OAuthGuard | undefined;
  readonly webhooks?: Readonly<Record<string, Webhook>> | undefined;
  readonly receive: Receive;
}

/** Returns the table of HTTP endpoints: the metadata of OAuth, the webhooks, and MCP itself. */
export function createHttpRoutes({ server, path, oauth, webhooks = {}, receive }: HttpRouteParts): Route[] {
  const metadata = [...(oauth?.metadata ?? [])].map(
    ([path, document]): Route => ({
      method: "GET",
      path,
      open: true,
      handle: () => Response.json(document),
    }),
  );
  const hooks = [...createWebhooks(webhooks, server.refreshSource)].map(
    ([path, handle]): Route => ({
      method: "POST",
      path,
      // The sender signs the body instead.
      open: true,
      handle: (exchange) =>
        handle(exchange.request.headers, (maxBytes) =>
          receive(exchange, { caller: `webhook ${path}`, maxBytes }),
        ),
    }),
  );
  const handle = (exchange: Exchange) => answer(server, receive, exchange);
  return [
    ...metadata,
    ...hooks,
    { method: "POST", path, handle },
    { method: "GET", path, handle },
    { method: "DELETE", path, handle },
  ];
}

function listens({ method, headers }: IncomingMessage): boolean {
  return method === "GET" || (method === "POST" && headers["mcp-method"] === "subscriptions/listen");
}

/** Lets the MCP server answer. A client that hangs up cancels its call. */
async function answer(
  server: McpServer,
  receive: Receive,
  exchange: Exchange,
): Promise<Response | PlainAnswer> {
  const { request, response, principal } = exchange;
  const body = await receive(exchange, {
    caller: principal?.id,
    isStream: listens(request),
    maxBytes: server.maxBodyBytes,
  });
  if (body instanceof Response) return body;
  const gone = new AbortController();
  response.once("close", () => response.writableFinished || gone.abort());
  const text = body.toString();
  const toRequest = () => toWebRequest(request, gone.signal);
  const answerPost = request.method === "POST" ? answerPostOf(server) : undefined;
  if (answerPost) return answerPost({ headers: request.headers, text, principal, gone, toRequest });
  return server.fetch(toRequest(), { body: text, ...(principal && { principal }) });
}
