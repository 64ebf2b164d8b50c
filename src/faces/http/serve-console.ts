import type { AcceptedLimits } from "../../core/access/accepted-limits.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { openRecordFile } from "../../core/storage/record-file.ts";
import { createMemoryRecords } from "../../core/storage/records.ts";
import { faceApiOf } from "../../gateway/face-api.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { ListingWay } from "../../gateway/tool-tokens.ts";
import type { HttpRoute, Mount } from "../mcp/http-routes.ts";
import type { McpServer } from "../mcp/mcp-server.ts";
import { type HttpOptions, type HttpServer, listen } from "../mcp/serve-http.ts";
import { CONSOLE_PATH, consoleFileRoutes } from "./console-files.ts";
import { createConsoleSessions, HALF_HEADER, sessionRoutes } from "./console-sessions.ts";
import type { ShownSetting } from "./endpoints/api-types.ts";
import { approvalEndpoints } from "./endpoints/approvals.ts";
import { auditEndpoints } from "./endpoints/audit.ts";
import type { AgentKeys, ConsoleParts, ServerEditor, StartConsents } from "./endpoints/console-parts.ts";
import { ADMIN_SCOPE, defineEndpoint, type Endpoint, toRoute } from "./endpoints/endpoint.ts";
import { callFigureEndpoints } from "./endpoints/figures.ts";
import { gatewayEndpoints } from "./endpoints/gateway.ts";
import { createApprovalQueue, createLiveEvents } from "./endpoints/live-events.ts";
import { type CallRecorder, createRecorder } from "./endpoints/recorder.ts";
import { knowledgeEndpoints, upstreamEndpoints } from "./endpoints/sources.ts";
import { toMetrics } from "./metrics.ts";
import { toOpenApi } from "./openapi-document.ts";

/** Options of {@link serveConsole}. */
export interface ConsoleOptions extends HttpOptions {
  /** The callers that a person may search as, in addition to the gateway's own principal. */
  readonly principals?: () => readonly Principal[] | Promise<readonly Principal[]>;
  /** Shows settings with their origin. Secrets must not be among them. */
  readonly settings?: () => Promise<readonly ShownSetting[]>;
  /** Lets people consent to servers that wait for it. */
  readonly consents?: StartConsents;
  /** Lets people keep servers to limits that are proposed for them. */
  readonly acceptedLimits?: AcceptedLimits;
  /** Lets people make and revoke keys of agents. */
  readonly agents?: AgentKeys;
  /** How a client of this name would list tools by itself. Default: whole. */
  readonly wayOf?: (client: string) => Promise<ListingWay | undefined>;
  /** Has watched the gateway since its start. Default: from now on. */
  readonly recorder?: CallRecorder;
  /** The file in which logins and figures outlive the process. Default: they end with it. */
  readonly file?: string;
  /** Lets people change the config of servers at the console. */
  readonly editor?: ServerEditor;
  /** Called when a one-time link was used, with the next one. */
  readonly onOpened?: (nextLink: string) => void;
}

/** A server that {@link serveConsole} started. */
export interface ConsoleServer extends HttpServer {
  /** Opens the console in a browser, once. */
  readonly consoleLink: string;
  /** Makes another such link. */
  createLink(): string;
  /** Makes such a link for another address of this machine, where the console is served from then on. */
  linkAt(host?: string): Promise<string>;
}

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
  options: ConsoleOptions = {},
): Promise<ConsoleServer> {
  const { principals, settings, consents, acceptedLimits, editor, agents, wayOf, file, ...rest } = options;
  const { recorder: watching, onOpened, ...http } = rest;
  const owner = http.principal ?? (await gateway.view()).principal;
  const records = file === undefined ? createMemoryRecords() : openRecordFile(file);
  const sessions = createConsoleSessions({ ...owner, scopes: [...owner.scopes, ADMIN_SCOPE] }, records);
  const recorder = watching ?? createRecorder(gateway, { storage: records, wayOf });
  const live = createLiveEvents(gateway, recorder);
  const approvals = createApprovalQueue(live.isAttended, () => recorder.tell({ topic: "approvals" }));
  const stopAnswering = faceApiOf(gateway).answerQuestions(approvals.approve);
  const files = await consoleFileRoutes();
  let base = "";
  const createLink = (origin = base) => `${origin}${CONSOLE_PATH}#/open/${sessions.createCode()}`;

  const endpoints = allEndpoints({
    gateway,
    recorder,
    approvals,
    principals: async () => unique([owner, ...((await principals?.()) ?? [])]),
    settings,
    consents,
    acceptedLimits,
    editor,
    agents,
    wayOf,
    isPerson: ({ request }) => sessions.find(request) !== undefined,
    runsScripts: server.runsScripts,
    createLink,
  });
  const mount: Mount = {
    authenticate: (request, isAgain) => {
      if (request.headers[HALF_HEADER] === undefined) return undefined;
      return sessions.find(request, !isAgain) ?? Response.json({ ok: false }, { status: 401 });
    },
    routes: (receive) => [
      ...healthRoutes(gateway),
      ...files,
      ...sessionRoutes(sessions, receive, () => onOpened?.(createLink())),
      ...[...endpoints, live.endpoint].map((endpoint) => toRoute(endpoint, receive, owner)),
    ],
  };
  const listening = await listen(server, http, mount);
  base = new URL(listening.url).origin;
  const others = new Map<string, Promise<HttpServer>>();
  const listenAt = (host: string) => {
    const { port: _, ...options } = { ...http, host, allowedHosts: [host], allowedOrigins: [host] };
    const opening = others.get(host) ?? listen(server, options, mount);
    others.set(host, opening);
    opening.catch(() => others.delete(host));
    return opening;
  };
  return {
    ...listening,
    consoleLink: createLink(),
    createLink: () => createLink(),
    linkAt: async (host) => createLink(host && new URL((await listenAt(host)).url).origin),
    close: async () => {
      stopAnswering();
      approvals.close();
      const all = await Promise.allSettled([listening, ...others.values()]);
      await Promise.all(all.map((one) => one.status === "fulfilled" && one.value.close()));
      await recorder.close();
    },
  };
}

/** Every endpoint of the JSON API but the stream of changes. */
function allEndpoints(parts: ConsoleParts): readonly Endpoint[] {
  const { gateway, recorder } = parts;
  const endpoints: Endpoint[] = [
    ...gatewayEndpoints(parts),
    ...approvalEndpoints(parts),
    ...upstreamEndpoints(parts),
    ...knowledgeEndpoints(parts),
    ...auditEndpoints(parts),
    ...callFigureEndpoints(parts),
    defineEndpoint("GET /metrics", {
      title: "Figures in the text format of Prometheus.",
      handle: async () =>
        new Response(await toMetrics(gateway, recorder), {
          headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        }),
    }),
    defineEndpoint("GET /api/openapi.json", {
      title: "This description.",
      handle: async () => toOpenApi(endpoints),
    }),
  ];
  return endpoints;
}

function unique(principals: readonly Principal[]): readonly Principal[] {
  return [...new Map(principals.map((principal) => [principal.id, principal])).values()];
}

/** Answers probes: they tell nothing but yes or no, so they need no token. */
function healthRoutes(gateway: Gateway): HttpRoute[] {
  let isReady = false;
  const setReady = () => {
    isReady = true;
  };
  gateway.ready().then(setReady, () => {});
  const probe = (path: string, isFine: () => boolean): HttpRoute => ({
    method: "GET",
    path,
    open: true,
    handle: () => new Response(isFine() ? "ok\n" : "not ready\n", { status: isFine() ? 200 : 503 }),
  });
  return [probe("/healthz", () => true), probe("/readyz", () => isReady)];
}
