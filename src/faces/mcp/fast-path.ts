import { AsyncLocalStorage } from "node:async_hooks";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJsonContentType,
  type JSONRPCMessage,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  parseJSONRPCMessage,
  RELATED_TASK_META_KEY,
  SERVER_INFO_META_KEY,
  type Transport,
} from "@modelcontextprotocol/server";
import { problem } from "../../base/problems/problem.ts";
import { isPlainObject, type PlainObject } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { ToolResult } from "./call-native.ts";
import { type AnswerCall, type CallParts, createAnswerCall } from "./call-tool.ts";
import { wantsHeaders } from "./http-messages.ts";
import { paramsRefusal, refusalsOf } from "./malformed.ts";
import type { ClientRequest, ProtocolRevision } from "./request.ts";

/**
 * Wraps the answer to the calls that the SDK has read: a call that it accepts opens the fast path for calls like it,
 * and a call that has already run is not run again.
 */
export type FollowSdk = (answer: AnswerCall, sdk: SdkConnection) => AnswerCall;

interface SdkConnection {
  readonly revision: ProtocolRevision;
  readonly log: ClientRequest["log"];
}

/** A call that has run past the SDK, while the SDK reads its request and sends its result. */
const finished = new AsyncLocalStorage<{ result: Promise<ToolResult> | undefined }>();

function following(answer: AnswerCall, onAccepted: (request: ClientRequest) => void): AnswerCall {
  return (call, request, principal) => {
    const store = finished.getStore();
    const result = store?.result;
    if (store && result) {
      // Cleared on first use: the next request of the same call may come in the same async context.
      store.result = undefined;
      return result;
    }
    onAccepted(request);
    return answer(call, request, principal);
  };
}

/**
 * The way of plain calls past the SDK (`npm run bench -- overhead`): from the message straight to the gateway, and a
 * plain result straight to the client. Everything else goes through the SDK. Both ways answer with the same bytes.
 */
export function createFastPath(parts: CallParts, serverInfo: ServerInfo) {
  const envelopes = createEnvelopes();
  const running = new Set<AbortController>();
  const answer = createAnswerCall(parts, {
    callerOf: (principal) => parts.listings.for(principal),
    knownClient: () => ({}),
  });

  return {
    /** Puts the fast path between a connection and the SDK. */
    connect: (wire: Transport) => connect(wire, serverInfo),
    /** Follows the calls of single requests over HTTP. */
    followSdk: (answerBySdk: AnswerCall): AnswerCall =>
      following(answerBySdk, ({ envelope }) => envelopes.accept(envelope)),
    /** Answers a plain call over HTTP; any other request, and any other result, is for `fetchBySdk`. */
    fetch: async (
      request: Request,
      body: unknown,
      principal: Principal,
      fetchBySdk: () => Promise<Response>,
    ): Promise<Response> => {
      const call = readPlainCall(body, "modern", envelopes);
      // Progress turns the answer into a stream.
      if (!call?.meta || call.meta.progressToken !== undefined || !areRight(request.headers, call))
        return fetchBySdk();
      const { listing } = await parts.listings.for(principal);
      const entry = listing.toolbox.entries.get(call.name);
      if (entry && wantsHeaders(entry)) return fetchBySdk();
      const gone = new AbortController();
      const abort = () => gone.abort(request.signal.reason);
      if (request.signal.aborted) abort();
      request.signal.addEventListener("abort", abort);
      running.add(gone);
      const result = answer(
        call,
        toRequest(call, "modern", { overHttp: true, signal: gone.signal, notify: ignore, log: ignore }),
        principal,
      );
      const plain = await result.then((done) => toPlainResult(done, "modern", serverInfo)).catch(ignore);
      running.delete(gone);
      request.signal.removeEventListener("abort", abort);
      return plain
        ? Response.json({ result: plain, jsonrpc: "2.0", id: call.id })
        : finished.run({ result }, fetchBySdk);
    },
    /** Cancels the calls over HTTP that run. */
    close: () => {
      for (const gone of running) gone.abort(problem("CLOSED"));
    },
  };
}

/** The fast path of one connection. */
function connect(wire: Transport, serverInfo: ServerInfo) {
  const running = new Map<string | number, AbortController>();
  const envelopes = createEnvelopes();
  let opened: (SdkConnection & { readonly answer: AnswerCall }) | undefined;

  const transport: Transport = {
    start: () => wire.start(),
    send: (message, options) => wire.send(message, options),
    close: () => {
      end();
      return wire.close();
    },
    setProtocolVersion: (version) => wire.setProtocolVersion?.(version),
  };
  wire.onmessage = (message, extra) => {
    if (take(message)) return;
    let read: JSONRPCMessage;
    try {
      read = parseJSONRPCMessage(message);
    } catch (error) {
      transport.onerror?.(error as Error);
      return refuse(refusalsOf(message));
    }
    const wrong = paramsRefusal(read);
    if (wrong) return refuse([wrong]);
    transport.onmessage?.(read, extra);
  };
  wire.onclose = () => {
    end();
    transport.onclose?.();
  };
  wire.onerror = (error) => transport.onerror?.(error);

  function refuse(answers: readonly JSONRPCMessage[]): void {
    for (const answer of answers) wire.send(answer).catch(ignore);
  }

  function end(): void {
    opened = undefined;
    for (const controller of running.values()) controller.abort(problem("CLOSED"));
    running.clear();
  }

  function take(message: JSONRPCMessage): boolean {
    if (!opened) return false;
    const cancelled = readCancelled(message);
    const controller = cancelled && running.get(cancelled.id);
    if (controller) {
      controller.abort(cancelled.reason);
      return true;
    }
    const call = readPlainCall(message, opened.revision, envelopes);
    if (!call || running.has(call.id)) return false;
    void run(call, message, opened);
    return true;
  }

  async function run(
    call: PlainCall,
    message: JSONRPCMessage,
    { revision, log, answer }: NonNullable<typeof opened>,
  ) {
    const { id } = call;
    const controller = new AbortController();
    running.set(id, controller);
    const { signal } = controller;
    const notify: ClientRequest["notify"] = (notice) => wire.send({ jsonrpc: "2.0", ...notice });
    const result = answer(call, toRequest(call, revision, { overHttp: false, signal, notify, log }));
    const plain = await result.then((done) => toPlainResult(done, revision, serverInfo)).catch(ignore);
    if (running.get(id) === controller) running.delete(id);
    if (signal.aborted) return;
    if (!plain) return finished.run({ result }, () => transport.onmessage?.(message));
    try {
      await wire.send({ result: plain, jsonrpc: "2.0", id } as JSONRPCMessage);
    } catch (error) {
      transport.onerror?.(new Error(`Failed to send response: ${reasonOf(error)}`));
    }
  }

  const followSdk: FollowSdk = (answer, sdk) =>
    following(answer, ({ envelope }) => {
      opened = { ...sdk, answer };
      envelopes.accept(envelope);
    });
  return { transport, followSdk };
}

function toRequest(
  { id, meta }: PlainCall,
  revision: ProtocolRevision,
  way: Pick<ClientRequest, "overHttp" | "signal" | "notify" | "log">,
): ClientRequest {
  return {
    ...way,
    id,
    method: "tools/call",
    _meta: meta,
    envelope: revision === "modern" ? meta : undefined,
    requestState: (() => undefined) as ClientRequest["requestState"],
  };
}

/** Whether the headers of a request repeat its body as the protocol demands. */
function areRight(headers: Headers, { name, meta }: PlainCall): boolean {
  return (
    headers.get("mcp-protocol-version") === meta?.[PROTOCOL_VERSION_META_KEY] &&
    headers.get("mcp-method") === "tools/call" &&
    headers.get("mcp-name") === name &&
    !name.startsWith("=?") &&
    isJsonContentType(headers.get("content-type"))
  );
}

async function ignore(): Promise<undefined> {}

/** A `tools/call` that needs nothing of the SDK. */
export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly args: PlainObject;
  readonly meta: PlainObject | undefined;
}

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

type Envelopes = ReturnType<typeof createEnvelopes>;

const ENVELOPE_KEYS = [PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY];
const REQUEST_FIELDS = new Set(["jsonrpc", "id", "method", "params"]);
const PARAMS_FIELDS = new Set(["name", "arguments", "_meta"]);
const RESULT_FIELDS = new Set(["_meta", "content", "structuredContent", "isError"]);
const TEXT_FIELDS = new Set(["type", "text"]);
const MAX_ENVELOPES = 256;
const MAX_ENVELOPE_CHARS = 4_096;

/** Reads a message as a plain call. Undefined for anything else, which the SDK reads or refuses. */
export function readPlainCall(
  message: unknown,
  revision: ProtocolRevision,
  envelopes: Envelopes,
): PlainCall | undefined {
  if (!isPlainObject(message) || message.method !== "tools/call" || message.jsonrpc !== "2.0")
    return undefined;
  const { id, params } = message;
  if (!isToken(id) || !isPlainObject(params)) return undefined;
  if (!hasOnly(message, REQUEST_FIELDS) || !hasOnly(params, PARAMS_FIELDS)) return undefined;
  const { name, arguments: args = {}, _meta: meta } = params;
  if (typeof name !== "string" || !isRecord(args)) return undefined;
  if (meta === undefined) return revision === "legacy" ? { id, name, args, meta } : undefined;
  if (!isRecord(meta) || RELATED_TASK_META_KEY in meta) return undefined;
  if (meta.progressToken !== undefined && !isToken(meta.progressToken)) return undefined;
  const isAccepted =
    revision === "modern"
      ? envelopes.has(meta)
      : !(LOG_LEVEL_META_KEY in meta || ENVELOPE_KEYS.some((key) => key in meta));
  return isAccepted ? { id, name, args, meta } : undefined;
}

/** The request that a notification cancels. */
export function readCancelled(
  message: unknown,
): { readonly id: string | number; readonly reason: string | undefined } | undefined {
  if (!isPlainObject(message) || message.method !== "notifications/cancelled" || message.id !== undefined)
    return undefined;
  const { requestId, reason } = isPlainObject(message.params) ? message.params : {};
  if (!isToken(requestId) || !(reason === undefined || typeof reason === "string")) return undefined;
  return { id: requestId, reason };
}

/**
 * Returns a result as the SDK would send it, field by field in the same order. Undefined for any result that the
 * SDK has to check or change first: pictures, links, questions, unknown fields.
 */
export function toPlainResult(
  result: ToolResult,
  revision: ProtocolRevision,
  serverInfo: ServerInfo,
): object | undefined {
  const { _meta, content, structuredContent, isError } = result as PlainObject;
  if (!hasOnly(result, RESULT_FIELDS) || !Array.isArray(content) || !content.every(isText)) return undefined;
  if (!(isError === undefined || typeof isError === "boolean")) return undefined;
  if (structuredContent !== undefined && !isRecord(structuredContent)) return undefined;
  // The server behind a tool has signed the result; any other metadata is for the SDK to check.
  if (_meta !== undefined && !isSignature(_meta)) return undefined;
  const body = {
    ...(_meta !== undefined && { _meta }),
    content: content.map(({ text }) => ({ type: "text", text })),
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError !== undefined && { isError }),
  };
  if (revision === "legacy") return body;
  const signature = _meta === undefined && { _meta: { [SERVER_INFO_META_KEY]: serverInfo } };
  return { ...body, resultType: "complete", ...signature };
}

/** The envelopes that the SDK has accepted: the metadata that every request of the newer protocol repeats. */
export function createEnvelopes() {
  const accepted = new Set<string>();
  return {
    accept: (envelope: unknown) => {
      const text = envelopeText(envelope as PlainObject | undefined);
      if (text === undefined || text.length > MAX_ENVELOPE_CHARS) return;
      accepted.add(text);
      const [oldest] = accepted;
      if (accepted.size > MAX_ENVELOPES && oldest !== undefined) accepted.delete(oldest);
    },
    has: (meta: PlainObject): boolean => {
      const text = envelopeText(meta);
      return text !== undefined && accepted.has(text);
    },
  };
}

/** Undefined if there is none, or one with a log level, whose messages only the SDK can send. */
function envelopeText(meta: PlainObject | undefined): string | undefined {
  if (typeof meta?.[PROTOCOL_VERSION_META_KEY] !== "string" || LOG_LEVEL_META_KEY in meta) return undefined;
  const values = ENVELOPE_KEYS.map((key) => meta[key]);
  // JSON would not tell a null from a missing value.
  return values.includes(null) ? undefined : JSON.stringify(values);
}

function isToken(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** A key of that name would not survive a copy. */
function isRecord(value: unknown): value is PlainObject {
  return isPlainObject(value) && !Object.hasOwn(value, "__proto__");
}

function hasOnly(value: object, fields: ReadonlySet<string>): boolean {
  for (const field in value) if (!fields.has(field)) return false;
  return true;
}

function isText(block: unknown): block is { readonly text: string } {
  if (!isPlainObject(block) || block.type !== "text" || typeof block.text !== "string") return false;
  return hasOnly(block, TEXT_FIELDS);
}

function isSignature(meta: unknown): boolean {
  if (!isPlainObject(meta) || Object.keys(meta).join() !== SERVER_INFO_META_KEY) return false;
  const info = meta[SERVER_INFO_META_KEY];
  if (!isPlainObject(info) || Object.keys(info).join() !== "name,version") return false;
  return typeof info.name === "string" && typeof info.version === "string";
}
