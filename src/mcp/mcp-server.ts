import {
  createMcpHandler,
  isLegacyRequest,
  PROTOCOL_VERSION_META_KEY,
  type Server,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Gateway } from "../gateway-api.ts";
import { coreOf } from "../gateway-core.ts";
import type { Principal } from "../schema/principal.ts";
import type { NativeNames } from "../surfaces/native-tools.ts";
import type { Surface } from "../surfaces/surface-names.ts";
import { PROGRAM_VERSION } from "../util/program-version.ts";
import { fromAuthInfo, toAuthInfo } from "./auth-info.ts";
import { type CallLane, createCallLane } from "./call-lane.ts";
import type { Ended, ToolResult } from "./call-native.ts";
import { followChanges } from "./changes.ts";
import { createConnections } from "./connections.ts";
import { headerMismatch, methodMismatch } from "./header-mismatch.ts";
import { createHttpLane } from "./http-lane.ts";
import type { InstructionsOption } from "./instructions.ts";
import { createLegacySessions } from "./legacy-sessions.ts";
import { createLineTransport } from "./line-transport.ts";
import { createListenBus } from "./listen-bus.ts";
import { createListings } from "./listing.ts";
import type { Era } from "./plain-result.ts";
import { type AnswerPost, setAnswerPost } from "./post.ts";
import { createProtocolServer, type ServerParts } from "./protocol-server.ts";
import { parseBody, readBody } from "./read-body.ts";
import { createRounds } from "./rounds.ts";
import { createTasks } from "./tasks.ts";

/** Options of {@link createMcpServer}. */
export interface McpServerOptions {
  /** Which tools a model sees. Default: `lanes`. */
  readonly surface?: Surface;
  /** Adds `tool_search` to the `commands` surface. */
  readonly toolSearch?: boolean;
  /** Adds `run` to the `lanes` surface. */
  readonly run?: boolean;
  /** How the tools of the `native` surface are named. Default: by their ops. */
  readonly nativeNames?: NativeNames;
  /**
   * Routes or ops of tools and skills that stand in the menu as tools of their own, the most important first, as far
   * as its budget allows. Not on `native`, which lists all.
   */
  readonly shortcuts?: readonly string[];
  /**
   * How many more tools and skills stand there because the principal uses them most, chosen once for each catalog.
   * Default: 0.
   */
  readonly learnedShortcuts?: number;
  /** Adds structured content to the text of answers. Default: false, unless a request's `_meta` asks for it. */
  readonly structured?: boolean;
  /** Principal of calls whose transport names none. Default: the gateway's own. */
  readonly principal?: Principal;
  readonly name?: string;
  /** Default: the version of Keyhole. */
  readonly version?: string;
  readonly instructions?: InstructionsOption;
  /** Approver of calls that need one: the person behind the client (default), or the gateway's `approve`. */
  readonly approvals?: "client" | "gateway";
  /** How long a person has to approve a call, at most an hour. Default: ten minutes. */
  readonly approvalMs?: number;
  /** How long clients may keep a list without asking again. Default: five minutes. */
  readonly listTtlMs?: number;
  /** Bytes of a request over HTTP. Default: 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Milliseconds over which changes of the catalog become one notice. */
  readonly debounceMs?: number;
  /** Receives errors that belong to no request. */
  readonly onError?: (error: Error) => void;
}

/** A gateway as an MCP server: the same tools over HTTP and stdio, in every revision that clients speak. */
export interface McpServer {
  readonly maxBodyBytes: number;
  /**
   * Answers one request over Streamable HTTP. It trusts its caller: `serveHttp` puts the checks in front. A `body`
   * that the caller has read is not read again.
   */
  fetch(
    request: Request,
    caller?: { readonly principal?: Principal; readonly body?: string },
  ): Promise<Response>;
  /** Serves one connection over stdin and stdout, or over a transport of the SDK. */
  connect(transport?: Transport): { close(): Promise<void> };
  /** Reads a source of the gateway again. */
  refreshSource(id: string): Promise<void>;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const LIST_TTL_MS = 5 * 60_000;
const DEBOUNCE_MS = 100;

/**
 * Turns a gateway into an MCP server. {@link serveHttp} serves it over HTTP, its `connect` over stdio.
 *
 * @throws INVALID_INPUT for a gateway that {@link createGateway} did not make
 * @example
 * ```ts
 * import { createGateway } from "keyhole";
 * import { createMcpServer } from "keyhole/mcp";
 *
 * const gateway = createGateway({ domains: [] });
 * const server = createMcpServer(gateway, { name: "office", surface: "lanes" });
 * await server.close();
 * await gateway.close();
 * ```
 */
export function createMcpServer(gateway: Gateway, options: McpServerOptions = {}): McpServer {
  const { maxBodyBytes = MAX_BODY_BYTES, debounceMs = DEBOUNCE_MS, onError = () => {} } = options;
  const { surface = "lanes", toolSearch = false, run = false, nativeNames = "ops", instructions } = options;
  const { shortcuts = [], learnedShortcuts = 0 } = options;
  const menu = { surface, toolSearch, run, nativeNames, shortcuts, learnedShortcuts };
  const listings = createListings(gateway, { ...menu, ...(instructions !== undefined && { instructions }) });
  const tasks = surface === "native" ? createTasks<ToolResult>(coreOf(gateway).clock) : undefined;
  const parts: ServerParts = {
    gateway,
    listings,
    rounds: createRounds(coreOf(gateway).approvals, options.approvalMs),
    approvals: options.approvals ?? "client",
    structured: options.structured ?? false,
    name: options.name ?? "keyhole",
    version: options.version ?? PROGRAM_VERSION,
    listTtlMs: options.listTtlMs ?? LIST_TTL_MS,
    listsEntries: surface === "native",
    accepted: (envelope) => httpLane.accept(envelope),
    tasks,
  };
  const serverInfo = { name: parts.name, version: parts.version };
  const httpLane = createHttpLane(parts, serverInfo);
  const changes = followChanges({ gateway, listings, debounceMs, onError });
  const listening = createListenBus(changes, onError);
  const connections = createConnections(gateway, changes);
  const serveOnce = (principal = options.principal) => createProtocolServer(parts, principal);
  const serveConnection = (era: Era, principal = options.principal, lane?: CallLane): Promise<Server> =>
    connections.add({ era, principal, lane }, (connection) =>
      createProtocolServer(parts, principal, connection),
    );

  const modern = createMcpHandler(({ authInfo }) => serveOnce(fromAuthInfo(authInfo)), {
    legacy: "reject",
    maxRequestBodySize: maxBodyBytes,
    onerror: onError,
    bus: listening.bus,
  });
  const legacy = createLegacySessions((principal) => serveConnection("legacy", principal), serveOnce);
  const stdio = new Set<{ close(): Promise<void> }>();

  const principalOr = async (given: Principal | undefined) =>
    given ?? options.principal ?? (await coreOf(gateway).shown()).principal;

  const fetchAs: FetchAs = async (request, caller, ended) => {
    const principal = await principalOr(caller.principal);
    const isPost = request.method === "POST";
    const read = isPost ? await readBody(request, maxBodyBytes, caller.body) : { body: undefined };
    if (read instanceof Response) return read;
    const { body } = read;
    const isLegacy = !claimsRevision(body) && (await isLegacyRequest(request, body));
    if (isLegacy) return methodMismatch(body, request.headers) ?? legacy.fetch(request, body, principal);
    if (menu.surface === "native") {
      await coreOf(gateway).ready();
      const { listing } = await listings.for(principal);
      const mismatch = headerMismatch(body, request.headers, listing.toolbox.entries);
      if (mismatch) return mismatch;
    }
    return listening.as(principal, () =>
      modern.fetch(request, { authInfo: toAuthInfo(principal, ended), parsedBody: body }),
    );
  };

  const answerPost: AnswerPost = async ({ headers, text, principal: given, gone, toRequest }) => {
    const principal = await principalOr(given);
    const read = headers["mcp-method"] === "tools/call" ? parseBody(text) : undefined;
    const isRead = read !== undefined && !(read instanceof Response);
    const answer = isRead ? await httpLane.answer({ headers, body: read.body, principal, gone }) : undefined;
    if (answer && "json" in answer) return answer;
    return fetchAs(toRequest(), { principal, body: text }, answer?.ended);
  };

  const server: McpServer = {
    maxBodyBytes,
    fetch: (request, caller = {}) => fetchAs(request, caller),
    connect: (transport) => {
      const wire = transport ?? createLineTransport(process.stdin, process.stdout);
      const lane = createCallLane({ wire, serverInfo });
      const handle = serveStdio(({ era }) => serveConnection(era, options.principal, lane), {
        transport: lane.transport,
        onerror: onError,
      });
      stdio.add(handle);
      return handle;
    },
    refreshSource: (id) => gateway.sources.refresh(id),
    close: async () => {
      changes.close();
      httpLane.close();
      tasks?.close();
      await Promise.all([modern.close(), legacy.close(), ...[...stdio].map((handle) => handle.close())]);
    },
  };
  setAnswerPost(server, answerPost);
  return server;
}

type FetchAs = (
  request: Request,
  caller: NonNullable<Parameters<McpServer["fetch"]>[1]>,
  /** The call of the request, if it has already ended. */
  ended?: Ended,
) => Promise<Response>;

/** A request that names its revision is never of the older protocol, so the SDK need not look twice. */
function claimsRevision(body: unknown): boolean {
  const params = (body as { params?: { _meta?: unknown } } | undefined)?.params;
  const meta = params?._meta;
  return typeof meta === "object" && meta !== null && Object.hasOwn(meta, PROTOCOL_VERSION_META_KEY);
}
