import { randomUUID } from "node:crypto";
import {
  isInitializeRequest,
  legacyStatelessFallback,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import type { Principal } from "../schema/principal.ts";
import { lazy } from "../util/lazy.ts";
import { toAuthInfo } from "./auth-info.ts";
import { jsonRpcError } from "./json-rpc-error.ts";

/** HTTP sessions of the older protocol, each bound to the principal that opened it. */
export interface LegacySessions {
  fetch(request: Request, body: unknown, principal: Principal): Promise<Response>;
  close(): Promise<void>;
}

interface LegacySession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  readonly principalId: string;
}

const MAX_SESSIONS = 10_000;
const IDLE_MS = 30 * 60_000;
const SESSION_HEADER = "mcp-session-id";

export function createLegacySessions(
  connect: (principal: Principal) => Promise<Server>,
  serveOnce: (principal: Principal) => Promise<Server>,
): LegacySessions {
  const sessions = lazy(
    () =>
      new LRUCache<string, LegacySession>({
        max: MAX_SESSIONS,
        ttl: IDLE_MS,
        updateAgeOnGet: true,
        ttlAutopurge: false,
        dispose: ({ server }) => void server.close().catch(() => {}),
      }),
  );

  async function open(request: Request, body: unknown, principal: Principal): Promise<Response> {
    const server = await connect(principal);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions().set(id, { transport, server, principalId: principal.id }),
      onsessionclosed: (id) => void sessions().delete(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request, {
      parsedBody: body,
      authInfo: toAuthInfo(principal),
    });
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  return {
    fetch: async (request, body, principal) => {
      const id = request.headers.get(SESSION_HEADER);
      if (id !== null) {
        const known = sessions().get(id);
        // The session of another principal answers like an unknown one.
        if (known?.principalId !== principal.id) return jsonRpcError(404, -32001, "Session not found");
        return known.transport.handleRequest(request, { parsedBody: body, authInfo: toAuthInfo(principal) });
      }
      if (request.method !== "POST")
        return jsonRpcError(405, -32000, "Method not allowed.", { allow: "POST" });
      if (opensSession(body)) return open(request, body, principal);
      const once = legacyStatelessFallback(() => serveOnce(principal));
      return once(request, { parsedBody: body, authInfo: toAuthInfo(principal) });
    },
    close: async () => {
      sessions().clear();
    },
  };
}

function opensSession(body: unknown): boolean {
  return Array.isArray(body) ? body.some(isInitializeRequest) : isInitializeRequest(body);
}
