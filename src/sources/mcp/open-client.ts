import type {
  Client,
  FetchLike,
  JsonSchemaValidator,
  PriorDiscovery,
  StreamableHTTPClientTransport,
  Transport,
} from "@modelcontextprotocol/client";
import { knowSecrets } from "../../net/known-secrets.ts";
import type { LogLevel } from "../../schema/entry.ts";
import type { Clock } from "../../util/clock.ts";
import { PROGRAM_VERSION } from "../../util/program-version.ts";
import { secretsInArgs, secretsInFields } from "../../util/secret-values.ts";
import { type CallLane, createCallLane } from "./call-lane.ts";
import type { CallTool } from "./call-tool.ts";
import type { ServerConfig } from "./config/server-config.ts";
import { type LaunchOptions, toLaunch, type Variables } from "./config/to-launch.ts";
import { BROKEN_OFF, isLost, refusesPost } from "./failure.ts";
import { createHttpCallLane, type HttpCallLane } from "./http-call-lane.ts";
import { keepListening } from "./keep-listening.ts";
import type { ServerLogin } from "./login/server-login.ts";
import { toWebFetch } from "./login/web-fetch.ts";
import { createNoticeGate, type NoticeGate } from "./notice-gate.ts";
import { createStdioTransport, type StdioTransport } from "./stdio-transport.ts";

const CLIENT = { name: "keyhole", version: PROGRAM_VERSION };
const PROBE_MS = 5_000;

export interface OpenOptions extends LaunchOptions {
  readonly config: ServerConfig;
  /** Access to an HTTP server; undefined for a child process. */
  readonly login?: ServerLogin | undefined;
  readonly era: PriorDiscovery | undefined;
  readonly clock: Clock;
  /** Raised when nobody needs the connection any more. */
  readonly signal: AbortSignal;
  readonly connectMs: number;
  readonly maxLineBytes: number;
  readonly graceMs: number;
  onListChanged(): void;
  onLog(level: LogLevel, data: unknown, logger: string | undefined): void;
  /** Called with each new transport, which may own a process. */
  onMade(made: Made): void;
  onClosed(made: Made): void;
}

/** A transport and its process. */
export interface Made {
  readonly transport: Transport;
  readonly process: StdioTransport | undefined;
  readonly lane?: CallLane | undefined;
  /** Why the transport ended, if known. */
  readonly ending: string | undefined;
  /** The calls that run on it, of everybody who uses it. */
  readonly running: Set<unknown>;
  /** Gives it up. It ends when nobody else uses it. */
  release(): Promise<void>;
}

/** A connection to a server. */
export interface Opened {
  readonly client: Client;
  readonly era: PriorDiscovery;
  readonly made: Made;
  readonly callTool: CallTool;
}

/** Connects to a server in the protocol that it speaks. Loads the SDK on first use. */
export async function openClient(options: OpenOptions): Promise<Opened> {
  const sdk = await import("@modelcontextprotocol/client");

  async function attempt(prior: PriorDiscovery | undefined, overSse: boolean): Promise<Opened> {
    const made = makeTransport(sdk, options, overSse);
    options.onMade(made);
    const changed = { autoRefresh: false, debounceMs: 0, onChanged: () => options.onListChanged() };
    const client = new sdk.Client(CLIENT, {
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(PROBE_MS, options.connectMs) } },
      listChanged: { tools: changed, prompts: changed, resources: changed },
      // Compiling a foreign schema could block the process. Callers check results themselves.
      jsonSchemaValidator: { getValidator: acceptAll },
    });
    // Skips single invalid messages; `onclose` tells about the end of the connection.
    client.onerror = () => {};
    client.setNotificationHandler("notifications/message", ({ params }) =>
      options.onLog(params.level, params.data, params.logger),
    );
    const gone = new AbortController();
    client.onclose = () => {
      gone.abort();
      made.lane?.close();
      options.onClosed(made);
    };
    try {
      await client.connect(made.transport, { timeout: options.connectMs, ...(prior && { prior }) });
    } catch (error) {
      options.onClosed(made);
      throw error;
    }
    const { clock, onListChanged: onMissed } = options;
    void keepListening(client, { clock, signal: gone.signal, onMissed });
    const discover = client.getDiscoverResult();
    const era: PriorDiscovery = discover ? { kind: "modern", discover } : { kind: "legacy" };
    return { client, era, made, callTool: made.lane?.over(client) ?? client.callTool.bind(client) };
  }

  const { config, era, signal } = options;
  // Only the older protocol has SSE.
  if (config.transport === "http" && config.sse) return attempt({ kind: "legacy" }, true);
  try {
    return await attempt(era, false);
  } catch (error) {
    if (signal.aborted) throw error;
    // A server of the older protocol may exit on an unknown request.
    if (config.transport === "stdio" && era === undefined && endedOverProbe(error))
      return attempt({ kind: "legacy" }, false);
    if (config.transport !== "http" || !refusesPost(error)) throw error;
    return attempt({ kind: "legacy" }, true).catch(() => {
      throw error;
    });
  }
}

function makeTransport(
  sdk: typeof import("@modelcontextprotocol/client"),
  options: OpenOptions,
  overSse: boolean,
): Made {
  const { label, config, variables, login } = options;
  if (config.transport === "http")
    return makeHttpTransport(sdk, login!, createNoticeGate(options.clock), overSse);
  const launch = toLaunch(config, options);
  knowSecrets([
    ...secretsInArgs(launch.args),
    ...secretsInFields(launch.env),
    ...secretsInFields(usedIn(config.args, variables)),
  ]);
  const process: StdioTransport = createStdioTransport({
    label,
    ...launch,
    maxLineBytes: options.maxLineBytes,
    graceMs: options.graceMs,
    readMessage: sdk.parseJSONRPCMessage,
    gate: createNoticeGate(options.clock),
    takes: (value) => lane.take(value),
  });
  const lane = createCallLane(sdk, process, process.receive);
  return {
    transport: process,
    process,
    lane,
    get ending() {
      return process.ending;
    },
    running: new Set(),
    release: () => process.close(),
  };
}

/** Ends the connection if a message is too large, like the stdio transport. */
function makeHttpTransport(
  sdk: typeof import("@modelcontextprotocol/client"),
  login: ServerLogin,
  gate: NoticeGate,
  overSse: boolean,
): Made {
  const { url, headers } = login.address();
  let ending: string | undefined;
  const end = (reason: string) => {
    ending ??= reason;
    void transport.close().catch(() => {});
  };
  const send = login.sender(end);
  const requestInit = { headers };
  const lane = overSse ? undefined : createHttpCallLane(sdk, { url, headers, send });
  const transport: Transport = lane
    ? failWithStream(new sdk.StreamableHTTPClientTransport(url, { fetch: lane.fetch, requestInit }))
    : new sdk.SSEClientTransport(url, { fetch: endWithStream(toWebFetch(send), end), requestInit });
  lane?.attach(transport);
  passThroughGate(transport, gate, lane?.renumbered);
  return {
    transport,
    process: undefined,
    lane,
    get ending() {
      return ending;
    },
    running: new Set(),
    release: () => transport.close(),
  };
}

/** Fails a request whose stream ends early; the SDK would wait forever. A second answer is ignored. */
function failWithStream(transport: StreamableHTTPClientTransport): Transport {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("id" in message && "method" in message)) return send(message, options);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      transport.onmessage?.({ jsonrpc: "2.0", id: message.id, error: BROKEN_OFF });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
  return transport;
}

/** Ends an SSE connection with its stream: the SDK would open another stream, whose session the server forgot. */
function endWithStream(fetch: FetchLike, end: (reason: string) => void): FetchLike {
  return async (url, init) => {
    const answer = await fetch(url, init);
    const isStream = answer.ok && (init?.method ?? "GET") === "GET" && answer.body;
    if (!isStream) return answer;
    const [read, watched] = answer.body.tee();
    void watched.pipeTo(new WritableStream()).then(
      () => end("its event stream ended"),
      () => end("its event stream broke off"),
    );
    return new Response(read, { status: answer.status, headers: answer.headers });
  };
}

/** Puts the gate before every handler that the client sets. */
function passThroughGate(
  transport: Transport,
  gate: NoticeGate,
  renumbered: HttpCallLane["renumbered"] = (message) => message,
): void {
  let gated: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    get: () => gated,
    set: (handle: Transport["onmessage"]) => {
      gated = handle && ((message, extra) => gate.take(message, () => handle(renumbered(message), extra)));
    },
  });
}

/** The variables that fill arguments. Their names say whether they are secret. */
function usedIn(args: readonly string[], variables: Variables): Variables {
  const names = args.flatMap((argument) =>
    [...argument.matchAll(/\$\{(?:env:)?(\w+)/g)].map(([, name = ""]) => name),
  );
  return Object.fromEntries(names.map((name) => [name, variables[name]]));
}

function endedOverProbe(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return isLost(error) || code === "ERA_NEGOTIATION_FAILED";
}

function acceptAll<T>(): JsonSchemaValidator<T> {
  return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
}
