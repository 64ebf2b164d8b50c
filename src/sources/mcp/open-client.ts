import type {
  Client,
  JsonSchemaValidator,
  PriorDiscovery,
  StreamableHTTPClientTransport,
  Transport,
} from "@modelcontextprotocol/client";
import type { LogLevel } from "../../schema/entry.ts";
import type { Clock } from "../../util/clock.ts";
import { expandAll, expandVariables } from "./config/expand-variables.ts";
import type { ServerConfig } from "./config/server-config.ts";
import { BROKEN_OFF, createHider, isLost } from "./failure.ts";
import { keepListening } from "./keep-listening.ts";
import type { ServerLogin } from "./login/server-login.ts";
import { createStdioTransport, type StdioTransport } from "./stdio-transport.ts";

const CLIENT = { name: "keyhole", version: "0.1.0" };
const PROBE_MS = 5_000;

export interface OpenOptions {
  readonly label: string;
  readonly config: ServerConfig;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** How the server is reached; undefined for one that runs as a child. */
  readonly login?: ServerLogin | undefined;
  readonly era: PriorDiscovery | undefined;
  readonly clock: Clock;
  readonly connectMs: number;
  readonly maxLineBytes: number;
  readonly graceMs: number;
  onListChanged(): void;
  onLog(level: LogLevel, data: unknown, logger: string | undefined): void;
  /** A transport is made: from now on it may hold a process. */
  onMade(made: Made): void;
  onClosed(made: Made): void;
}

/** A transport with what belongs to it. */
export interface Made {
  readonly transport: Transport;
  readonly process: StdioTransport | undefined;
  /** Why it came to its end, where that is known. */
  readonly ending: string | undefined;
  /** Takes the resolved secrets of the config out of a text. */
  hide(text: string): string;
}

/** A connection to a server. */
export interface Opened {
  readonly client: Client;
  readonly era: PriorDiscovery;
  readonly made: Made;
}

/** Connects to a server in the protocol that it speaks. The SDK is loaded with the first one. */
export async function openClient(options: OpenOptions): Promise<Opened> {
  const sdk = await import("@modelcontextprotocol/client");

  async function attempt(prior: PriorDiscovery | undefined): Promise<Opened> {
    const made = makeTransport(sdk, options);
    options.onMade(made);
    const changed = { autoRefresh: false, debounceMs: 0, onChanged: () => options.onListChanged() };
    const client = new sdk.Client(CLIENT, {
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(PROBE_MS, options.connectMs) } },
      listChanged: { tools: changed, prompts: changed, resources: changed },
      // Compiling a schema from outside can block the process; results are checked by whoever uses them.
      jsonSchemaValidator: { getValidator: acceptAll },
    });
    // Single wrong messages are skipped; what ends the connection is told by `onclose`.
    client.onerror = () => {};
    client.setNotificationHandler("notifications/message", ({ params }) =>
      options.onLog(params.level, params.data, params.logger),
    );
    const gone = new AbortController();
    client.onclose = () => {
      gone.abort();
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
    return { client, era, made };
  }

  try {
    return await attempt(options.era);
  } catch (error) {
    // A server of the older protocol may end itself over a question that it does not know.
    const wasAsked = options.era === undefined && options.config.transport === "stdio";
    if (!wasAsked || !endedOverProbe(error)) throw error;
    return attempt({ kind: "legacy" });
  }
}

function makeTransport(sdk: typeof import("@modelcontextprotocol/client"), options: OpenOptions): Made {
  const { label, config, variables, login } = options;
  if (config.transport === "http") return makeHttpTransport(sdk, login!);
  const env = expandAll(label, config.env, variables);
  const process = createStdioTransport({
    label,
    command: expandVariables(label, config.command, variables),
    args: config.args.map((argument) => expandVariables(label, argument, variables)),
    env,
    ...(config.cwd !== undefined && { cwd: expandVariables(label, config.cwd, variables) }),
    maxLineBytes: options.maxLineBytes,
    graceMs: options.graceMs,
    readMessage: sdk.deserializeMessage,
  });
  return {
    transport: process,
    process,
    get ending() {
      return process.ending;
    },
    hide: createHider(secretsOf(config.args, env, options)),
  };
}

/** A message that is too large ends the connection, as it does where the server is a child. */
function makeHttpTransport(sdk: typeof import("@modelcontextprotocol/client"), login: ServerLogin): Made {
  const { url, headers } = login.address();
  let ending: string | undefined;
  const fetch = login.fetch((reason) => {
    ending = reason;
    void transport.close().catch(() => {});
  });
  const transport = new sdk.StreamableHTTPClientTransport(url, { fetch, requestInit: { headers } });
  failWithStream(transport);
  return {
    transport,
    process: undefined,
    get ending() {
      return ending;
    },
    hide: (text) => createHider([...Object.values(headers), url.password, ...login.secrets()])(text),
  };
}

/** A stream that ends before the answer leaves its request waiting; to an answer that has come this adds nothing. */
function failWithStream(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("id" in message && "method" in message)) return send(message, options);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      transport.onmessage?.({ jsonrpc: "2.0", id: message.id, error: BROKEN_OFF });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
}

/** What came out of variables in arguments is as secret as what is in the environment. */
function secretsOf(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { label, variables }: OpenOptions,
): string[] {
  const filled = args.filter((argument) => argument.includes("${"));
  return [...Object.values(env), ...filled.map((argument) => expandVariables(label, argument, variables))];
}

function endedOverProbe(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return isLost(error) || code === "ERA_NEGOTIATION_FAILED";
}

function acceptAll<T>(): JsonSchemaValidator<T> {
  return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
}
