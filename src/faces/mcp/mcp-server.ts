import { AsyncLocalStorage } from "node:async_hooks";
import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  type ServerEventBus,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { NativeNames } from "../../core/surfaces/native-tools.ts";
import { surfaceTools } from "../../core/surfaces/surface.ts";
import type { Surface } from "../../core/surfaces/surface-names.ts";
import { faceApiOf } from "../../gateway/face-api.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { ToolResult } from "./call-native.ts";
import { type ChangeNotices, followChanges, type KeptSession, openConnection } from "./changes.ts";
import { createFastPath, type FollowSdk } from "./fast-path.ts";
import { headerMismatch, methodMismatch, readBody } from "./http-messages.ts";
import { createLegacySessions } from "./legacy-sessions.ts";
import { createLineTransport } from "./line-transport.ts";
import { createListings, type InstructionsOption } from "./listing.ts";
import { claimsRevision, paramsRefusal } from "./malformed.ts";
import { createOpenCalls } from "./open-calls.ts";
import { createProtocolServer, type ServerParts } from "./protocol-server.ts";
import { fromAuthInfo, type ProtocolRevision, toAuthInfo } from "./request.ts";
import { createSealedStates } from "./sealed-state.ts";
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

/** The client of a connection. */
export interface ConnectedClient {
  /** The folder that it runs in. Servers whose work is about a folder start there. Default: that of this process. */
  readonly folder?: string;
  /** Keeps the session of the client for its next connection, in which it goes on. Default: it ends with this one. */
  readonly session?: KeptSession;
}

/** A gateway as an MCP server: the same tools over HTTP and stdio, in every revision that clients speak. */
export interface McpServer {
  readonly maxBodyBytes: number;
  /** Whether its surface has the tool that runs scripts. */
  readonly runsScripts: boolean;
  /**
   * Answers one request over Streamable HTTP. It trusts its caller: `serveHttp` puts the checks in front. A `body`
   * that the caller has read is not read again.
   */
  fetch(
    request: Request,
    caller?: { readonly principal?: Principal; readonly body?: string },
  ): Promise<Response>;
  /** Serves one connection over stdin and stdout, or over a transport of the SDK. */
  connect(transport?: Transport, client?: ConnectedClient): { close(): Promise<void> };
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
  const menu = { surface, toolSearch, run, nativeNames, shortcuts: options.shortcuts ?? [] };
  const face = faceApiOf(gateway);
  const listings = createListings(gateway, { ...menu, instructions });
  const tasks = surface === "native" ? createTasks<ToolResult>(face.clock) : undefined;
  const states = createSealedStates(face.approvals, options.approvalMs);
  const openCalls = createOpenCalls(states, face.clock);
  const parts: ServerParts = {
    ...{ gateway, face, listings, states, openCalls },
    approvals: options.approvals ?? "client",
    structured: options.structured ?? false,
    name: options.name ?? "keyhole",
    version: options.version ?? PROGRAM_VERSION,
    listTtlMs: options.listTtlMs ?? LIST_TTL_MS,
    followSdk: (answer) => fastPath.followSdk(answer),
    tasks,
  };
  const fastPath = createFastPath(parts, { name: parts.name, version: parts.version });
  const changes = followChanges({ gateway, listings, debounceMs, onError });
  const listening = createListenBus(changes, onError);
  const serveOnce = (principal = options.principal) => createProtocolServer(parts, principal);
  const serveConnection = (
    revision: ProtocolRevision,
    principal = options.principal,
    followSdk?: FollowSdk,
    client: ConnectedClient = {},
  ): Promise<Server> =>
    openConnection(
      gateway,
      changes,
      { revision, principal, followSdk, ...client },
      (connection) => createProtocolServer(parts, principal, connection),
      openCalls.leave,
    );

  const modern = createMcpHandler(({ authInfo }) => serveOnce(fromAuthInfo(authInfo)), {
    legacy: "reject",
    maxRequestBodySize: maxBodyBytes,
    onerror: onError,
    bus: listening.bus,
  });
  const legacy = createLegacySessions((principal) => serveConnection("legacy", principal), serveOnce);
  const stdio = new Set<{ close(): Promise<void> }>();

  async function fetchBySdk(request: Request, body: unknown, principal: Principal): Promise<Response> {
    const wrong = paramsRefusal(body);
    if (wrong) return Response.json(wrong);
    const isLegacy = !claimsRevision(body) && (await isLegacyRequest(request, body));
    if (isLegacy) return methodMismatch(body, request.headers) ?? legacy.fetch(request, body, principal);
    if (menu.surface === "native") {
      await face.view("complete");
      const { listing } = await listings.for(principal);
      const mismatch = headerMismatch(body, request.headers, listing.toolbox.entries);
      if (mismatch) return mismatch;
    }
    return listening.as(principal, () =>
      modern.fetch(request, { authInfo: toAuthInfo(principal), parsedBody: body }),
    );
  }

  return {
    maxBodyBytes,
    runsScripts: surfaceTools(menu).some(({ operation }) => operation === "run"),
    fetch: async (request, caller = {}) => {
      const given = caller.principal ?? options.principal;
      const principal = given ?? (await face.view("usable")).principal;
      const isPost = request.method === "POST";
      const read = isPost ? await readBody(request, maxBodyBytes, caller.body) : { body: undefined };
      if (read instanceof Response) return read;
      const { body } = read;
      return fastPath.fetch(request, body, principal, () => fetchBySdk(request, body, principal));
    },
    connect: (transport, client) => {
      const wire = transport ?? createLineTransport(process.stdin, process.stdout);
      const { transport: sdkTransport, followSdk } = fastPath.connect(wire);
      const handle = serveStdio(({ era }) => serveConnection(era, options.principal, followSdk, client), {
        transport: sdkTransport,
        onerror: onError,
      });
      stdio.add(handle);
      return handle;
    },
    refreshSource: (id) => gateway.sources.refresh(id),
    close: async () => {
      changes.close();
      fastPath.close();
      openCalls.close();
      tasks?.close();
      await Promise.all([modern.close(), legacy.close(), ...[...stdio].map((handle) => handle.close())]);
    },
  };
}

/** Tells open `subscriptions/listen` streams of the changes that their principals can see. */
function createListenBus(changes: ChangeNotices, onError: (error: Error) => void) {
  const callers = new AsyncLocalStorage<Principal>();
  const bus: ServerEventBus = {
    // An event of the SDK's own would reach every principal.
    publish: () => {},
    subscribe: (listener) => {
      const principal = callers.getStore();
      return changes.add({
        principal: () => principal,
        onChange: (events) => {
          try {
            for (const event of events) listener(event);
          } catch (error) {
            onError(error as Error);
          }
        },
      });
    },
  };
  /** Streams that open during this work belong to the principal. */
  const as = <T>(principal: Principal, work: () => T): T => callers.run(principal, work);
  return { bus, as };
}
