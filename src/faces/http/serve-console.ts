import type { AcceptedLimits } from "../../core/access/accepted-limits.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { openRecordFile } from "../../core/storage/record-file.ts";
import { createMemoryRecords, type RecordStorage } from "../../core/storage/records.ts";
import { faceApiOf } from "../../gateway/face-api.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { ListingWay } from "../../gateway/tool-tokens.ts";
import { personId } from "../mcp/bearer.ts";
import type { HttpRoute, Mount } from "../mcp/http-routes.ts";
import type { McpServer } from "../mcp/mcp-server.ts";
import { enterProfile, type ServedProfiles } from "../mcp/profiles.ts";
import { type HttpOptions, type HttpServer, listen } from "../mcp/serve-http.ts";
import { CONSOLE_PATH, consoleFileRoutes } from "./console-files.ts";
import { type ConsoleLogin, consoleLoginRoutes, LOGIN_PATH, toConsoleLogin } from "./console-login.ts";
import { createConsoleSessions, createVisits, HALF_HEADER, sessionRoutes } from "./console-sessions.ts";
import type { ShownSetting, UsagePrices } from "./endpoints/api-types.ts";
import { approvalEndpoints } from "./endpoints/approvals.ts";
import { auditEndpoints } from "./endpoints/audit.ts";
import type { AgentKeys, ConsoleParts, ServerEditor, StartConsents } from "./endpoints/console-parts.ts";
import {
  ADMIN_SCOPE,
  defineAdminEndpoint,
  defineEndpoint,
  type Endpoint,
  toRoute,
} from "./endpoints/endpoint.ts";
import { callFigureEndpoints } from "./endpoints/figures.ts";
import { gatewayEndpoints } from "./endpoints/gateway.ts";
import { createApprovalQueue, createLiveEvents } from "./endpoints/live-events.ts";
import { type CallRecorder, createRecorder } from "./endpoints/recorder.ts";
import { knowledgeEndpoints, upstreamEndpoints } from "./endpoints/sources.ts";
import { usageEndpoints } from "./endpoints/usage.ts";
import { type LoginPages, loginEndpoints, loginRoutes } from "./login-pages.ts";
import { toMetrics, toUsageMetrics } from "./metrics.ts";
import { toOpenApi } from "./openapi-document.ts";

/** Tells the page where a person without a session logs in. */
const LOGIN_HEADER = "x-keyhole-login";

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
  /** Lets each person log in to servers for themselves. */
  readonly logins?: LoginPages;
  /** Lets people change the config of servers at the console. */
  readonly editor?: ServerEditor;
  /** Called when a one-time link was used, with the next one. */
  readonly onOpened?: (nextLink: string) => void;
}

/** Parts of the program's console that its config decides. */
export interface ConsoleState {
  /** Keeps logins and figures in place of `file`. */
  readonly records?: RecordStorage | undefined;
  /** Prices with which usage is also shown as money. */
  readonly prices?: UsagePrices | undefined;
  /** Opens the console by a login in place of one-time links. */
  readonly login?: ConsoleLogin | undefined;
  readonly profiles?: ServedProfiles;
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
 * @throws INVALID_INPUT if a webhook has no secret, or two endpoints share a path
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
  return startConsole(gateway, server, options, {});
}

/** Like {@link serveConsole}, with the parts that a config decides. */
export async function startConsole(
  gateway: Gateway,
  server: McpServer,
  options: ConsoleOptions,
  { records: shared, prices, login, ...team }: ConsoleState,
): Promise<ConsoleServer> {
  const { principals, settings, consents, acceptedLimits, editor, agents, wayOf, file, ...rest } = options;
  const { recorder: watching, logins, onOpened, ...http } = rest;
  const owner = http.principal ?? (await gateway.view()).principal;
  const records = shared ?? (file === undefined ? createMemoryRecords() : openRecordFile(file));
  const admin = { ...owner, scopes: [...owner.scopes, ADMIN_SCOPE] };
  const sessions = createConsoleSessions(admin, records, login?.toPrincipal);
  const visits = login && createVisits(records, login.toPrincipal);
  const whoIs: LoginPages["whoIs"] =
    login &&
    (async (request, person) =>
      person.startsWith(personId(login.issuer, ""))
        ? ((await visits!.personOf(request)) ?? toConsoleLogin(request))
        : undefined);
  const recorder = watching ?? createRecorder(gateway, { storage: records, wayOf });
  const live = createLiveEvents(gateway, recorder);
  const approvals = createApprovalQueue(live.isAttended, () => recorder.tell({ topic: "approvals" }));
  const stops = [faceApiOf(gateway).answerQuestions(approvals.approve)];
  const profiles =
    team.profiles &&
    withFirst(team.profiles, gateway, (opened) => {
      recorder.add(opened);
      stops.push(faceApiOf(opened).answerQuestions(approvals.approve));
    });
  const files = await consoleFileRoutes();
  let base = "";
  let isDraining = false;
  const createLink = (origin = base) =>
    login ? `${login.origin}${CONSOLE_PATH}` : `${origin}${CONSOLE_PATH}#/open/${sessions.createCode()}`;

  const parts: ConsoleParts = {
    gateway,
    recorder,
    approvals,
    enter: async (principal) => {
      const entered = await enterProfile(profiles, principal);
      return { gateway: entered?.gateway ?? gateway, principal: entered?.principal ?? principal };
    },
    principals: async () => unique([owner, ...((await principals?.()) ?? [])]),
    settings,
    consents,
    acceptedLimits,
    editor,
    agents,
    wayOf,
    prices,
    isPerson: async ({ request }) => (await sessions.find(request)) !== undefined,
    runsScripts: server.runsScripts,
    createLink,
  };
  const endpoints = allEndpoints(parts, logins ? loginEndpoints(logins) : []);
  const mount: Mount = {
    profiles,
    authenticate: async (request, isAgain) => {
      if (request.headers[HALF_HEADER] === undefined) return undefined;
      const headers = { ...(login && { [LOGIN_HEADER]: LOGIN_PATH }) };
      const found = await sessions.find(request, !isAgain);
      return found ?? Response.json({ ok: false }, { status: 401, headers });
    },
    routes: (receive) => [
      ...healthRoutes(gateway, () => isDraining),
      ...files,
      ...(login ? consoleLoginRoutes(login, sessions.openFor, visits!.open) : []),
      ...(logins ? loginRoutes({ ...logins, ...(whoIs && { whoIs }) }, receive) : []),
      ...sessionRoutes(sessions, receive, () => onOpened?.(createLink())),
      ...[...endpoints, live.endpoint].map((endpoint) => toRoute(endpoint, receive, owner)),
    ],
  };
  const listening = await listen(server, http, mount);
  base = new URL(listening.url).origin;
  logins?.links.serveAt(base);
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
    drain: () => {
      isDraining = true;
      listening.drain();
    },
    linkAt: async (host) => createLink(host && new URL((await listenAt(host)).url).origin),
    close: async () => {
      for (const stop of stops) stop();
      approvals.close();
      const all = await Promise.allSettled([listening, ...others.values()]);
      await Promise.all(all.map((one) => one.status === "fulfilled" && one.value.close()));
      await recorder.close();
    },
  };
}

/** The same profiles, which tell of each further gateway that they open. */
function withFirst(
  profiles: ServedProfiles,
  own: Gateway,
  onFirst: (opened: Gateway) => void,
): ServedProfiles {
  const seen = new WeakSet<Gateway>([own]);
  return {
    names: profiles.names,
    open: async (name) => {
      const profile = await profiles.open(name);
      if (profile && !seen.has(profile.gateway)) onFirst(profile.gateway);
      if (profile) seen.add(profile.gateway);
      return profile;
    },
  };
}

/** Every endpoint of the JSON API but the stream of changes. */
function allEndpoints(parts: ConsoleParts, further: readonly Endpoint[]): readonly Endpoint[] {
  const { gateway, recorder } = parts;
  const endpoints: Endpoint[] = [
    ...gatewayEndpoints(parts),
    ...approvalEndpoints(parts),
    ...upstreamEndpoints(parts),
    ...knowledgeEndpoints(parts),
    ...auditEndpoints(parts),
    ...callFigureEndpoints(parts),
    ...usageEndpoints(parts),
    ...further,
    defineEndpoint("GET /metrics", {
      title: "Figures in the text format of Prometheus.",
      handle: async () => prometheus(await toMetrics(gateway, recorder)),
    }),
    defineAdminEndpoint("GET /metrics/usage", {
      title: "Calls, tokens and money by person, server and tool since the start, for Prometheus.",
      handle: async () => prometheus(toUsageMetrics(faceApiOf(gateway).usage(), parts.prices)),
    }),
    defineEndpoint("GET /api/openapi.json", {
      title: "This description.",
      handle: async () => toOpenApi(endpoints),
    }),
  ];
  return endpoints;
}

function prometheus(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
}

function unique(principals: readonly Principal[]): readonly Principal[] {
  return [...new Map(principals.map((principal) => [principal.id, principal])).values()];
}

/**
 * Answers probes: they tell nothing but yes or no, so they need no token. Whether the shared state can be reached is no
 * part of them: every gateway would be taken away at once, and nobody would tell callers why.
 */
function healthRoutes(gateway: Gateway, isDraining: () => boolean): HttpRoute[] {
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
  return [probe("/healthz", () => true), probe("/readyz", () => isReady && !isDraining())];
}
