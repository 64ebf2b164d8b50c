import { randomUUID } from "node:crypto";
import {
  type HandleRequestOptions,
  isInitializeRequest,
  isJSONRPCRequest,
  legacyStatelessFallback,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Principal } from "../../core/nouns/principal.ts";
import { createFairCache } from "../../core/storage/fair-cache.ts";
import { jsonRpcError } from "./protocol-errors.ts";
import { toAuthInfo } from "./request.ts";

interface LegacySession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
}

const MAX_SESSIONS = 10_000;
const IDLE_MS = 30 * 60_000;
const SESSION_HEADER = "mcp-session-id";

/**
 * Creates the HTTP sessions of the older protocol, each bound to the principal that opened it. Beyond `maxSessions` the
 * oldest end, first of the principal that has most. One keeps at most half of them.
 */
export function createLegacySessions(
  connect: (principal: Principal) => Promise<Server>,
  serveOnce: (principal: Principal) => Promise<Server>,
  maxSessions = MAX_SESSIONS,
) {
  const most = Math.ceil(maxSessions / 2);
  const sessions = createFairCache<LegacySession>({
    all: { entries: maxSessions, size: maxSessions },
    perOwner: { entries: most, size: most },
    ttlMs: IDLE_MS,
    onRemoved: (_, { server }) => void server.close().catch(() => {}),
  });

  async function open(
    request: Request,
    options: HandleRequestOptions,
    principal: Principal,
  ): Promise<Response> {
    const server = await connect(principal);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, principal.id, { transport, server }),
      onsessionclosed: (id) => sessions.delete(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request, options);
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  return {
    fetch: async (request: Request, body: unknown, principal: Principal): Promise<Response> => {
      const id = request.headers.get(SESSION_HEADER);
      const options = { parsedBody: body, authInfo: toAuthInfo(principal) };
      if (id !== null) {
        // The session of another principal answers like an unknown one.
        const session = sessions.renew(id, principal.id);
        if (!session) return jsonRpcError(404, -32001, "Session not found");
        request.signal.addEventListener("abort", () => cancelCalls(session.transport, body), { once: true });
        return session.transport.handleRequest(request, options);
      }
      if (request.method !== "POST")
        return jsonRpcError(405, -32000, "Method not allowed.", { allow: "POST" });
      const opensSession = [body].flat().some(isInitializeRequest);
      if (opensSession) return open(request, options, principal);
      return legacyStatelessFallback(() => serveOnce(principal))(request, options);
    },
    close: async () => sessions.clear(),
  };
}

/** Cancels the requests of a body whose client hung up: its stream cannot be resumed, so nobody gets their answers. */
function cancelCalls({ onmessage }: LegacySession["transport"], body: unknown): void {
  for (const message of [body].flat())
    if (isJSONRPCRequest(message))
      onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: message.id } });
}
