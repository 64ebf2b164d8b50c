import {
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { field, fieldsOf, isPlainObject } from "../../base/util/plain-object.ts";

/** The types of params that requests of a method need. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, "text" | "object">>>> = {
  initialize: { protocolVersion: "text", capabilities: "object", clientInfo: "object" },
  "tools/call": { name: "text" },
  "prompts/get": { name: "text" },
  "resources/read": { uri: "text" },
  "resources/subscribe": { uri: "text" },
  "resources/unsubscribe": { uri: "text" },
  "completion/complete": { ref: "object", argument: "object" },
  "logging/setLevel": { level: "text" },
};
const OPTIONAL = { cursor: "text", arguments: "object", _meta: "object" } as const;
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const SHAPE = "A request has jsonrpc 2.0, an id, a method and params, and nothing else.";

/**
 * The errors for a message that the protocol does not allow: one for each request in it, so that no caller waits.
 * Nothing answers a response or a notification.
 */
export function refusalsOf(message: unknown): JSONRPCMessage[] {
  if (Array.isArray(message) && message.length > 0)
    return message.flatMap((each) => refusal(each, -32600, "Batches are not read: send each request alone."));
  const wrong = wrongParams(message);
  if (wrong !== undefined) return refusal(message, ProtocolErrorCode.InvalidParams, wrong);
  return refusal(message, ProtocolErrorCode.InvalidRequest, SHAPE);
}

/** A request that names its revision is never of the older protocol, so the SDK need not look twice. */
export function claimsRevision(message: unknown): boolean {
  return Object.hasOwn(fieldsOf(field(field(message, "params"), "_meta")), PROTOCOL_VERSION_META_KEY);
}

/** Methods that the stateless revision no longer has: it answers that it does not know them. */
const REMOVED: ReadonlySet<unknown> = new Set([
  ...["initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"],
]);

/** The error for a request whose params lack something, or undefined. */
export function paramsRefusal(message: unknown): JSONRPCMessage | undefined {
  if (claimsRevision(message) && REMOVED.has(field(message, "method"))) return undefined;
  const wrong = wrongParams(message);
  return wrong === undefined
    ? undefined
    : refusal(message, ProtocolErrorCode.InvalidParams, wrong).find((answer) => field(answer, "id") !== null);
}

function wrongParams(message: unknown): string | undefined {
  const { method, params = {} } = fieldsOf(message);
  if (typeof method !== "string") return undefined;
  if (!isPlainObject(params)) return "params must be an object.";
  const needed = Object.hasOwn(NEEDED, method) ? NEEDED[method]! : {};
  const shown = toVisibleText(method, 64);
  for (const [name, type] of Object.entries(needed))
    if (!isOf(type, params[name])) return `${shown} needs params.${name}: ${NOUNS[type]}.`;
  for (const [name, type] of Object.entries(OPTIONAL))
    if (params[name] !== undefined && !isOf(type, params[name]))
      return `params.${name} must be ${NOUNS[type]}.`;
  if (method === "logging/setLevel" && !LEVELS.includes(params.level as string))
    return `params.level must be one of ${LEVELS.join(", ")}.`;
  return undefined;
}

const NOUNS = { text: "a text", object: "an object" } as const;

function isOf(type: keyof typeof NOUNS, value: unknown): boolean {
  return type === "text" ? typeof value === "string" : isPlainObject(value);
}

function refusal(message: unknown, code: number, text: string): JSONRPCMessage[] {
  const { id, method, result, error } = fieldsOf(message);
  const isResponse = method === undefined && (result !== undefined || error !== undefined);
  if (isPlainObject(message) && (id === undefined || isResponse)) return [];
  const isId = typeof id === "string" || Number.isInteger(id);
  return [{ jsonrpc: "2.0", id: isId ? id : null, error: { code, message: text } } as JSONRPCMessage];
}
