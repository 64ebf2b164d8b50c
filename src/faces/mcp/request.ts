import {
  type AuthInfo,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Clock } from "../../base/util/clock.ts";
import type { PlainObject } from "../../base/util/plain-object.ts";
import type { CallingClient } from "../../core/nouns/entry.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { CallTrace } from "../../core/nouns/span-context.ts";
import type { Limits } from "../../core/operations/operation.ts";
import { beginSpan, type Publish, traceOf } from "../../core/telemetry/events.ts";
import type { FaceApi, FaceOptions } from "../../gateway/face-api.ts";
import { takesForms } from "../../sources/mcp/seen-client.ts";
import { asProtocolError } from "./protocol-errors.ts";
import type { SealedState } from "./sealed-state.ts";

/** 2025-11-25 and older, or 2026-07-28. */
export type ProtocolRevision = "legacy" | "modern";

type SdkRequest = ServerContext["mcpReq"];

/** A request as Keyhole reads it, through the SDK or past it. */
export interface ClientRequest
  extends Pick<SdkRequest, "id" | "method" | "_meta" | "inputResponses" | "requestState" | "signal" | "log"> {
  /** The metadata that every request of the newer protocol repeats. */
  readonly envelope?: PlainObject | undefined;
  readonly overHttp: boolean;
  /** Sends a notification that belongs to the request. */
  notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>;
}

/** A request that the SDK has read. */
export function fromContext({ mcpReq, http }: ServerContext): ClientRequest {
  return { ...mcpReq, overHttp: http !== undefined };
}

/**
 * One request of a client, as the tools behind it see it. A call that asks its client for input takes several
 * requests ("rounds"): each repeats the call and brings the answers, and the state that the round before has sealed.
 */
export interface RequestContext {
  readonly principal: Principal;
  readonly responses: PlainObject;
  readonly state?: SealedState;
  /** Whether the client can put a question to its user. */
  readonly canAsk: boolean;
  /** Whether the client can answer requests of servers while its call runs. */
  readonly answersServers: boolean;
  /** The name that the client gives of itself. */
  readonly client: string | undefined;
  /** The request asks for structured content. */
  readonly structured: boolean;
  readonly options: FaceOptions;
}

/** Capabilities by which a client answers requests of servers. */
const ANSWERS = ["elicitation", "sampling", "roots"];
/** Programs set this in the `_meta` of a call to get structured content beside the text. */
const STRUCTURED_META_KEY = "keyhole/structured";

/** Facts about the client that its connection knows; a request may have its own. */
export interface KnownClient {
  readonly capabilities?: PlainObject | undefined;
  /** The name that the client gives of itself. */
  readonly client?: string | undefined;
  readonly session?: string | undefined;
  /** Equal for all requests of one connection, with the folder that its client runs in. */
  readonly connection?: { readonly folder?: string | undefined } | undefined;
}

/**
 * Answers one request: within the trace that its client sent, with reports of progress meanwhile. Problems become
 * protocol errors, which keep their codes on the wire.
 */
export function answerRequest<C extends { readonly principal: Principal }, T extends object>(
  request: ClientRequest,
  /** The name that the request is about, for its trace. */
  target: string | undefined,
  server: Pick<FaceApi, "clock" | "publish"> & {
    findCaller(): Promise<C>;
    knownClient(): KnownClient | Promise<KnownClient>;
  },
  work: (caller: C, context: RequestContext) => Promise<T>,
): Promise<T> {
  return traced(request, target, server.publish, async (trace) => {
    const { progress, stop } = startHeartbeat(request, server.clock);
    try {
      const caller = await server.findCaller();
      const connection = await server.knownClient();
      return await work(caller, toContext(request, caller.principal, connection, progress, trace));
    } catch (error) {
      throw asProtocolError(error);
    } finally {
      stop();
    }
  });
}

function toContext(
  request: ClientRequest,
  principal: Principal,
  connection: KnownClient,
  progress: CallingClient["progress"],
  trace?: CallTrace,
): RequestContext {
  const state = request.requestState<SealedState>();
  const { envelope } = request;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as PlainObject | undefined;
  const capabilities = declared ?? connection.capabilities ?? {};
  const client = clientNameOf(request, connection);
  return {
    principal,
    client,
    responses: request.inputResponses ?? {},
    ...(state && { state }),
    canAsk: takesForms(capabilities),
    answersServers: ANSWERS.some((name) => name in capabilities),
    structured: request._meta?.[STRUCTURED_META_KEY] === true,
    options: {
      principal,
      signal: request.signal,
      ...(connection.session && { session: connection.session }),
      client: {
        name: client,
        readsFiles: !request.overHttp && rowOf(client)?.readsFiles === true,
        ...toClient(request, capabilities, state, progress, connection.connection),
      },
      limits: limitsOf(client),
      ...(state?.kind === "approval" && { resume: state }),
      ...(trace && { trace }),
    },
  };
}

/** The name that a client gives of itself, with the request or with its connection. */
export function clientNameOf({ envelope }: Pick<ClientRequest, "envelope">, connection: KnownClient) {
  const info = envelope?.[CLIENT_INFO_META_KEY] as { readonly name?: string } | undefined;
  return info?.name ?? connection.client;
}

function toClient(
  { envelope, inputResponses, log }: ClientRequest,
  capabilities: PlainObject,
  state: SealedState | undefined,
  progress: CallingClient["progress"],
  connection: KnownClient["connection"],
): CallingClient {
  return {
    capabilities,
    ...(connection && { connection, folder: connection.folder }),
    responses: inputResponses ?? {},
    ...(state?.kind === "tool" && { state: state.state }),
    progress,
    // A client of the older protocol listens to everything until it sets a level, which only the SDK knows.
    logLevel: envelope ? (envelope[LOG_LEVEL_META_KEY] as CallingClient["logLevel"]) : "debug",
    // It only informs: a client that has gone away must not fail the call.
    log: (level, data, logger) => void log(level, data, logger).catch(() => {}),
  };
}

type Progress = CallingClient["progress"];

/** Some clients give up after 60 seconds without a word. */
const SILENT_MS = 15_000;
/** Progress has to grow with every report, and the tool's own next step must still be larger. */
const STEP = 0.001;

/**
 * Passes the progress of a tool on to a client that has asked for it, and reports by itself while the tool is
 * silent.
 */
function startHeartbeat({ _meta, notify }: ClientRequest, clock: Clock) {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { progress: (() => {}) as Progress, stop: () => {} };
  const began = clock.monotonic();
  let last: Parameters<Progress>[0] = { progress: 0 };
  let cancel = clock.after(SILENT_MS, beat);

  function beat(): void {
    const seconds = Math.round((clock.monotonic() - began) / 1_000);
    const { total = Number.POSITIVE_INFINITY } = last;
    const grown = last.progress + STEP;
    progress({ ...(grown < total && last), progress: grown, message: `Still running after ${seconds} s.` });
  }

  function progress(update: Parameters<Progress>[0]): void {
    last = update;
    cancel();
    cancel = clock.after(SILENT_MS, beat);
    const params = { progressToken, ...update };
    // It only informs: a client that has gone away must not fail the call.
    notify({ method: "notifications/progress", params }).catch(() => {});
  }

  return { progress, stop: () => cancel() };
}

/** Answers a request within the trace that its client sent, and publishes its span if anybody listens. */
async function traced<T extends object>(
  request: ClientRequest,
  target: string | undefined,
  publish: Publish,
  work: (trace: CallTrace | undefined) => Promise<T>,
): Promise<T> {
  const { span, trace } = beginSpan(traceOf(request._meta), publish);
  if (!span) return work(trace);
  const startedAt = Date.now();
  const started = performance.now();
  const version = request.envelope?.[PROTOCOL_VERSION_META_KEY];
  const report = (ending: { target?: string; error?: string; status?: string }) =>
    publish({
      type: "mcp",
      side: "server",
      method: request.method,
      requestId: String(request.id),
      ...(typeof version === "string" && { protocolVersion: version.slice(0, 32) }),
      transport: request.overHttp ? "tcp" : "pipe",
      span,
      startedAt,
      latencyMs: performance.now() - started,
      ...ending,
    });
  try {
    const result = await work(trace);
    const failed = "isError" in result && result.isError === true;
    report({ ...(target !== undefined && { target }), ...(failed && { error: "tool_error" }) });
    return result;
  } catch (error) {
    // Leaves the target out: an unknown name would be the caller's own text.
    const { code } = error as { code?: unknown };
    const status = typeof code === "number" ? { status: String(code) } : {};
    report({ error: status.status ?? "_OTHER", ...status });
    throw error;
  }
}

/** Wraps the principal for the SDK. The token is dropped, because nothing behind this needs it. */
export function toAuthInfo(principal: Principal): AuthInfo {
  return { token: "", clientId: principal.id, scopes: [...principal.scopes], extra: { principal } };
}

export function fromAuthInfo(auth: AuthInfo | undefined): Principal | undefined {
  return auth?.extra?.principal as Principal | undefined;
}

interface ClientRow {
  /** Matches the name that the client gives of itself. */
  readonly name: RegExp;
  /** Characters of a result that the model still reads whole. Absent: no limit is known. */
  readonly shown?: number;
  /** The client shows the raw JSON, so base64 images would reach the model as text. */
  readonly readsBytes?: true;
  /** Its own tool reads a file outside the project without asking. Others ask, or refuse, so they get handles alone. */
  readonly readsFiles?: true;
  /** The version that was measured, and what it does with longer results. */
  readonly measured: string;
}

/** Characters that Keyhole's tools ask for in their `_meta`. Measured: Claude Code 2.1.325 shows that many whole. */
export const LARGEST_RESULT = 200_000;

/** Clients that cut results, put them into a file or show them as JSON. A client of another name gets the limits of the gateway. */
export const CLIENTS: readonly ClientRow[] = [
  {
    name: /\bcline\b/i,
    shown: 8_000,
    readsBytes: true,
    measured: "Cline CLI 3.0.65 shows the result's JSON, with its middle cut",
  },
  { name: /\bcontinue-/i, readsBytes: true, measured: "Continue 1.5.47 shows the JSON of the content" },
  {
    name: /\bcopilot\b/i,
    shown: 20_000,
    readsFiles: true,
    measured: "Copilot CLI 1.0.102 writes 22 KB to a file, shows 500 characters",
  },
  { name: /\bqwen\b/i, shown: 30_000, readsFiles: true, measured: "Qwen Code 0.24.4 writes it to a file" },
  { name: /\bkimi\b/i, readsFiles: true, measured: "Kimi 2.1.0 shows it whole" },
  { name: /\bgemini\b/i, shown: 40_000, measured: "Gemini CLI 0.61.0 shows the first 8 K and the last 32 K" },
  { name: /\bcodex\b/i, shown: 50_000, measured: "Codex 0.166.0 cuts the middle" },
  {
    name: /\bclaude-code\b/i,
    shown: LARGEST_RESULT,
    measured: "Claude Code 2.1.325 writes it to a file; without that `_meta`, from 52,000 characters on",
  },
];

/** The share that results may take; headings, warnings and next steps need the rest. */
const RESULTS = 0.9;

/** The limits of answers to a client, by the name that it gives of itself. */
export function limitsOf(client: string | undefined): Partial<Limits> {
  const shown = rowOf(client)?.shown;
  return shown === undefined ? {} : { answerBytes: shown * RESULTS };
}

/** Whether a client shows a model the bytes of pictures and files as text. */
export function readsBytes(client: string | undefined): boolean {
  return rowOf(client)?.readsBytes === true;
}

function rowOf(client: string | undefined): ClientRow | undefined {
  return client === undefined ? undefined : CLIENTS.find(({ name }) => name.test(client));
}
