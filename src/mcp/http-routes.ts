import type { IncomingMessage, ServerResponse } from "node:http";
import type { McpServer } from "./mcp-server.ts";
import { readBytes, toWebRequest } from "./node-http.ts";
import type { OAuthGuard } from "./oauth.ts";
import { tooLarge } from "./read-body.ts";
import type { Exchange, Route } from "./router.ts";
import { createWebhooks, type Webhook } from "./webhooks.ts";

/** The parts that {@link createHttpRoutes} builds endpoints from. */
export interface HttpRouteParts {
  readonly server: McpServer;
  /** The path of the MCP endpoint. */
  readonly path: string;
  readonly oauth?: OAuthGuard | undefined;
  readonly webhooks?: Readonly<Record<string, Webhook>> | undefined;
  /** Counts a request until it is answered, or returns the refusal. */
  readonly enter: (caller: string, isStream: boolean, response: ServerResponse) => Response | undefined;
}

/** Returns the table of HTTP endpoints: the metadata of OAuth, the webhooks, and MCP itself. */
export function createHttpRoutes({ server, path, oauth, webhooks = {}, enter }: HttpRouteParts): Route[] {
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
      handle: ({ request, response }) => enter(`webhook ${path}`, false, response) ?? handle(request),
    }),
  );
  const handle = (exchange: Exchange) => answer(server, exchange);
  return [
    ...metadata,
    ...hooks,
    { method: "POST", path, isStream: listens, handle },
    { method: "GET", path, isStream: () => true, handle },
    { method: "DELETE", path, handle },
  ];
}

function listens({ headers }: IncomingMessage): boolean {
  return headers["mcp-method"] === "subscriptions/listen";
}

/** Lets the MCP server answer. A client that hangs up cancels its call. */
async function answer(server: McpServer, { request, response, principal }: Exchange): Promise<Response> {
  const bytes = request.method === "POST" ? await readBytes(request, server.maxBodyBytes) : Buffer.alloc(0);
  if (!bytes) return tooLarge(server.maxBodyBytes);
  const gone = new AbortController();
  response.once("close", () => response.writableFinished || gone.abort());
  return server.fetch(toWebRequest(request, gone.signal), {
    body: bytes.toString(),
    ...(principal && { principal }),
  });
}
