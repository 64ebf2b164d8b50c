import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  RELATED_TASK_META_KEY,
  SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import { isPlainObject, type PlainObject } from "../../base/util/plain-object.ts";
import type { ToolResult } from "./call-native.ts";
import type { ProtocolRevision } from "./request.ts";

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
