import {
  Client,
  type FetchLike,
  type McpSubscription,
  type PriorDiscovery,
  SSEClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { knowSecrets } from "../../base/safety/known-secrets.ts";
import { secretsInArgs, secretsInFields, secretVariables } from "../../base/safety/secret-values.ts";
import type { Clock } from "../../base/util/clock.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import type { LogLevel } from "../../core/nouns/entry.ts";
import { backoffMs, sleep } from "../backoff.ts";
import type { StdioConfig } from "./config/server-config.ts";
import { toLimitedLaunch } from "./config/server-program.ts";
import type { LaunchVariables } from "./config/to-launch.ts";
import { isLost, refusesPost } from "./failure.ts";
import { createHttpTransport } from "./http-fast-path.ts";
import { toWebFetch } from "./login/web-fetch.ts";
import { NO_VALIDATION } from "./no-validation.ts";
import { createNoticeGate, type NoticeGate } from "./notice-gate.ts";
import { type AskedFact, answerServer, capabilitiesOf, type SeenClient } from "./seen-client.ts";
import { StdioTransport } from "./stdio-transport.ts";
import type { UpstreamTarget } from "./upstream-target.ts";

const CLIENT = { name: "keyhole", version: PROGRAM_VERSION };
const PROBE_MS = 5_000;
const LEGACY: PriorDiscovery = { kind: "legacy" };

export interface OpenOptions extends UpstreamTarget {
  readonly era: PriorDiscovery | undefined;
  /** Aborts when the connection is no longer needed. */
  readonly signal: AbortSignal;
  onListChanged(): void;
  /** Called when the server asks for something in which clients may differ. */
  onAsked(fact: AskedFact): void;
  onLog(level: LogLevel, data: unknown, logger: string | undefined): void;
  /** Called with each new transport, which may own a process. */
  onTransport(transport: OpenTransport): void;
  onClosed(transport: OpenTransport): void;
}

export interface OpenTransport {
  readonly wire: Transport;
  readonly process: StdioTransport | undefined;
  /** Why the transport ended, if known. */
  readonly ending: string | undefined;
  /** Running calls of all its users. */
  readonly running: Set<unknown>;
  /** Sets the roots of the process. False if other users of it have the old roots. */
  changeRoots(roots: SeenClient["roots"]): boolean;
  /** Releases the transport, which ends with its last user. */
  release(): Promise<void>;
}

/** A connection to a server. */
export interface OpenedUpstream {
  readonly client: Client;
  readonly era: PriorDiscovery;
  readonly transport: OpenTransport;
}

/** Connects to a server and detects its protocol. */
export async function openClient(options: OpenOptions): Promise<OpenedUpstream> {
  const { config, era, signal } = options;
  // Only the older protocol has SSE.
  if (config.transport === "http" && config.sse) return attempt(options, LEGACY, true);
  try {
    return await attempt(options, era, false);
  } catch (error) {
    if (signal.aborted) throw error;
    // A server of the older protocol may exit on an unknown request.
    if (config.transport === "stdio" && era === undefined && endedOverProbe(error))
      return attempt(options, LEGACY, false);
    if (config.transport !== "http" || !refusesPost(error)) throw error;
    return attempt(options, LEGACY, true).catch(() => {
      throw error;
    });
  }
}

async function attempt(
  options: OpenOptions,
  prior: PriorDiscovery | undefined,
  overSse: boolean,
): Promise<OpenedUpstream> {
  const { clock, onListChanged, limits, config } = options;
  const gate = createNoticeGate(clock);
  const transport =
    config.transport === "http"
      ? makeHttpTransport(options, gate, overSse)
      : makeStdioTransport(config, options, gate);
  options.onTransport(transport);
  const changed = { autoRefresh: false, debounceMs: 0, onChanged: () => onListChanged() };
  const client = new Client(CLIENT, {
    capabilities: capabilitiesOf(options.seen),
    versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(PROBE_MS, limits.connectMs) } },
    listChanged: { tools: changed, prompts: changed, resources: changed },
    jsonSchemaValidator: NO_VALIDATION,
  });
  // Skips single invalid messages; `onclose` reports the end of the connection.
  client.onerror = () => {};
  client.setNotificationHandler("notifications/message", ({ params }) =>
    options.onLog(params.level, params.data, params.logger),
  );
  answerServer(client, transport.running, options);
  const gone = new AbortController();
  client.onclose = () => {
    gone.abort();
    options.onClosed(transport);
  };
  try {
    await client.connect(transport.wire, { timeout: limits.connectMs, ...(prior && { prior }) });
  } catch (error) {
    options.onClosed(transport);
    throw error;
  }
  void keepListening(client, clock, gone.signal, onListChanged);
  const discover = client.getDiscoverResult();
  return { client, era: discover ? { kind: "modern", discover } : LEGACY, transport };
}

function makeStdioTransport(config: StdioConfig, options: OpenOptions, gate: NoticeGate): OpenTransport {
  const { label, variables, environment, limits } = options;
  const launch = toLimitedLaunch(config, options);
  const declared = Object.entries(launch.env).filter(([name, value]) => environment[name] !== value);
  knowSecrets([
    ...secretsInArgs(launch.args),
    ...secretsInFields(Object.fromEntries(declared)),
    ...secretVariables(launch.env),
    ...secretsInFields(usedIn(config.args, variables)),
  ]);
  const process = new StdioTransport({ label, ...launch, ...limits, gate });
  return {
    wire: process,
    process,
    get ending() {
      return process.ending;
    },
    running: new Set(),
    changeRoots: (roots) => setRoots(options, roots),
    release: () => process.close(),
  };
}

/** Ends the connection if a message is too large, like the stdio transport. */
function makeHttpTransport(options: OpenOptions, gate: NoticeGate, overSse: boolean): OpenTransport {
  const login = options.login!;
  const { url, headers } = login.address();
  let ending: string | undefined;
  const end = (reason: string) => {
    ending ??= reason;
    void wire.close().catch(() => {});
  };
  const send = login.sender(end);
  const wire: Transport = overSse
    ? new SSEClientTransport(url, {
        fetch: endWithStream(toWebFetch(send), end),
        requestInit: { headers },
      })
    : createHttpTransport(url, headers, send);
  passThroughGate(wire, gate);
  return {
    wire,
    process: undefined,
    get ending() {
      return ending;
    },
    running: new Set(),
    changeRoots: (roots) => setRoots(options, roots),
    release: () => wire.close(),
  };
}

function setRoots({ seen }: OpenOptions, roots: SeenClient["roots"]): boolean {
  if (seen) seen.roots = roots;
  return seen !== undefined;
}

/** Ends an SSE connection with its stream: the SDK would open another stream without a session. */
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

/** Puts the gate in front of every handler that the client sets. */
function passThroughGate(transport: Transport, gate: NoticeGate): void {
  let gated: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    get: () => gated,
    set: (handle: Transport["onmessage"]) => {
      gated = handle && ((message, extra) => gate.take(message, () => handle(message, extra)));
    },
  });
}

/** The variables used in arguments. Their names say whether they are secret. */
function usedIn(args: readonly string[], variables: LaunchVariables): LaunchVariables {
  const names = args.flatMap((argument) =>
    [...argument.matchAll(/\$\{(?:env:)?(\w+)/g)].map(([, name = ""]) => name),
  );
  return Object.fromEntries(names.map((name) => [name, variables[name]]));
}

function endedOverProbe(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return isLost(error) || code === "ERA_NEGOTIATION_FAILED";
}

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Reopens the stream of change notifications of the newer protocol whenever the server ends it, until the signal
 * aborts. Changes may be missed in between.
 */
async function keepListening(
  client: Client,
  clock: Clock,
  signal: AbortSignal,
  onMissed: () => void,
): Promise<void> {
  let stream: McpSubscription | undefined = client.autoOpenedSubscription;
  let filter = stream?.honoredFilter;
  let openedAt = clock.monotonic();
  let failures = 0;
  while (filter && (!stream || (await stream.closed) !== "local")) {
    // Streams that end early count as failures, so the waits grow.
    failures = stream && clock.monotonic() - openedAt > LONGEST_WAIT_MS ? 1 : failures + 1;
    await sleep(backoffMs(failures, { firstMs: FIRST_WAIT_MS, longestMs: LONGEST_WAIT_MS }), clock, signal);
    if (signal.aborted) return;
    stream = await client.listen(filter, { signal }).catch(() => undefined);
    if (!stream) continue;
    filter = stream.honoredFilter;
    openedAt = clock.monotonic();
    onMissed();
  }
}
