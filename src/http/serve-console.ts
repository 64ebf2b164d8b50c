import type { Gateway } from "../gateway-api.ts";
import { coreOf } from "../gateway-core.ts";
import type { McpServer } from "../mcp/mcp-server.ts";
import type { Mount, Receive, Route } from "../mcp/router.ts";
import { type HttpOptions, type HttpServer, listen } from "../mcp/serve-http.ts";
import type { Principal } from "../schema/principal.ts";
import { CONSOLE_PATH, consoleFileRoutes } from "./console-files.ts";
import { createConsoleSessions, HALF_HEADER } from "./console-sessions.ts";
import { healthRoutes } from "./health-routes.ts";
import { createLiveEvents } from "./live-events.ts";
import { toMetrics } from "./metrics.ts";
import { toOpenApi } from "./openapi-document.ts";
import { operationEndpoints } from "./operation-endpoints.ts";
import { approvalEndpoints } from "./pages/approvals.ts";
import { auditEndpoints } from "./pages/audit.ts";
import { knowledgeEndpoints } from "./pages/knowledge.ts";
import { overviewEndpoint } from "./pages/overview.ts";
import { peopleEndpoints } from "./pages/people.ts";
import { sessionEndpoints } from "./pages/sessions.ts";
import { settingsEndpoints } from "./pages/settings.ts";
import { unmetEndpoint } from "./pages/unmet.ts";
import { upstreamEndpoints } from "./pages/upstreams.ts";
import { ADMIN_SCOPE } from "./parts/admin-scope.ts";
import type { ShownSetting } from "./parts/answers.ts";
import { type ApprovalDesk, createApprovalDesk } from "./parts/approval-desk.ts";
import type { ConsoleParts, StartConsents } from "./parts/console-parts.ts";
import { type Endpoint, toRoute } from "./parts/endpoint.ts";
import { createRecorder } from "./parts/recorder.ts";
import { sessionRoutes } from "./session-routes.ts";

/** Options of {@link serveConsole}. */
export interface ConsoleOptions extends HttpOptions {
  /** The callers that a person may search as, in addition to the gateway's own principal. */
  readonly principals?: () => readonly Principal[] | Promise<readonly Principal[]>;
  /** Shows settings with their origin. Secrets must not be among them. */
  readonly settings?: () => Promise<readonly ShownSetting[]>;
  /** Lets people consent to servers that wait for it. */
  readonly consents?: StartConsents;
  /** Called when a one-time link was used, with the next one. */
  readonly onOpened?: (nextLink: string) => void;
}

/** A server that {@link serveConsole} started. */
export interface ConsoleServer extends HttpServer {
  /** Opens the console in a browser, once. */
  readonly consoleLink: string;
}

const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Serves MCP over HTTP like {@link serveHttp}, and beside it a JSON API of the operations and the console for the
 * people who run the gateway. The console opens by a link that works once.
 *
 * @throws INVALID_INPUT if `oauth` has no keys, a webhook has no secret, or two endpoints share a path
 * @example
 * ```ts
 * import { createGateway } from "keyhole";
 * import { serveConsole } from "keyhole/http";
 * import { createMcpServer } from "keyhole/mcp";
 *
 * const gateway = createGateway({ domains: [] });
 * const http = await serveConsole(gateway, createMcpServer(gateway));
 * console.log(`Console, once: ${http.consoleLink}`);
 * await http.close();
 * await gateway.close();
 * ```
 */
export async function serveConsole(
  gateway: Gateway,
  server: McpServer,
  { principals, settings, consents, onOpened, ...http }: ConsoleOptions = {},
): Promise<ConsoleServer> {
  const owner = async () => http.principal ?? (await gateway.view()).principal;
  const own = await owner();
  const person: Principal = { ...own, scopes: [...own.scopes, ADMIN_SCOPE] };
  const sessions = createConsoleSessions(person);
  const recorder = createRecorder(gateway);
  const live = createLiveEvents(gateway, recorder);
  const desk: ApprovalDesk = createApprovalDesk(live.isAttended, () => recorder.tell({ topic: "approvals" }));
  const leaveDesk = coreOf(gateway).answerQuestions(desk.approve);
  const files = await consoleFileRoutes();
  let base = "";
  const createLink = () => `${base}${CONSOLE_PATH}#/open/${sessions.createCode()}`;

  const endpoints = allEndpoints({
    gateway,
    recorder,
    desk,
    principals: async () => unique([own, ...((await principals?.()) ?? [])]),
    settings,
    consents,
    isPerson: ({ request }) => sessions.find(request) !== undefined,
    createLink,
  });
  const mount: Mount = {
    authenticate: (request) => {
      if (request.headers[HALF_HEADER] === undefined) return undefined;
      return sessions.find(request) ?? Response.json({ ok: false }, { status: 401 });
    },
    routes: (receive: Receive): Route[] => [
      ...healthRoutes(gateway),
      ...files,
      ...sessionRoutes(sessions, receive, () => onOpened?.(createLink())),
      ...[...endpoints, live.endpoint].map((endpoint) =>
        toRoute(endpoint, { receive, owner, maxBytes: MAX_BODY_BYTES }),
      ),
    ],
  };
  const listening = await listen(server, http, mount);
  base = new URL(listening.url).origin;
  return {
    ...listening,
    consoleLink: createLink(),
    close: async () => {
      leaveDesk();
      desk.close();
      recorder.close();
      await listening.close();
    },
  };
}

/** Every endpoint of the JSON API but the stream of changes. */
function allEndpoints(parts: ConsoleParts): readonly Endpoint[] {
  const { gateway, recorder } = parts;
  const endpoints: Endpoint[] = [
    ...operationEndpoints(parts),
    ...peopleEndpoints(parts),
    overviewEndpoint(parts),
    ...approvalEndpoints(parts),
    ...upstreamEndpoints(parts),
    ...sessionEndpoints(parts),
    unmetEndpoint(parts),
    ...auditEndpoints(parts),
    ...knowledgeEndpoints(parts),
    ...settingsEndpoints(parts),
    {
      method: "GET",
      path: "/metrics",
      title: "Figures in the text format of Prometheus.",
      handle: async () =>
        new Response(await toMetrics(gateway, recorder), {
          headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        }),
    },
    {
      method: "GET",
      path: "/api/openapi.json",
      title: "This description.",
      handle: async () => toOpenApi(endpoints),
    },
  ];
  return endpoints;
}

function unique(principals: readonly Principal[]): readonly Principal[] {
  return [...new Map(principals.map((principal) => [principal.id, principal])).values()];
}
