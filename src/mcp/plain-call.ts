import { isFields } from "../util/fields.ts";
import { type Envelopes, hasEnvelope, type Meta } from "./envelopes.ts";
import type { Era } from "./plain-result.ts";

/** A `tools/call` that needs nothing of the SDK. */
export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly meta: Meta | undefined;
}

const RELATED_TASK = "io.modelcontextprotocol/related-task";
const REQUEST_FIELDS = new Set(["jsonrpc", "id", "method", "params"]);
const PARAMS = new Set(["name", "arguments", "_meta"]);

/** Reads a message as a plain call. Undefined for anything else, which the SDK reads or refuses. */
export function readPlainCall(message: unknown, era: Era, envelopes: Envelopes): PlainCall | undefined {
  if (!isFields(message) || message.method !== "tools/call" || message.jsonrpc !== "2.0") return undefined;
  const { id, params } = message;
  if (!isToken(id) || !isFields(params) || !hasOnly(message, REQUEST_FIELDS) || !hasOnly(params, PARAMS))
    return undefined;
  const { name, arguments: args = {}, _meta: meta } = params;
  if (typeof name !== "string" || !isRecord(args)) return undefined;
  if (meta === undefined) return era === "legacy" ? { id, name, args, meta } : undefined;
  if (!isRecord(meta) || RELATED_TASK in meta) return undefined;
  if (meta.progressToken !== undefined && !isToken(meta.progressToken)) return undefined;
  const isClaimed = era === "modern" ? envelopes.has(meta) : !hasEnvelope(meta);
  return isClaimed ? { id, name, args, meta } : undefined;
}

/** The request that a notification cancels. */
export function readCancelled(
  message: unknown,
): { readonly id: string | number; readonly reason: string | undefined } | undefined {
  if (!isFields(message) || message.method !== "notifications/cancelled" || message.id !== undefined)
    return undefined;
  const { requestId, reason } = isFields(message.params) ? message.params : {};
  if (!isToken(requestId) || !(reason === undefined || typeof reason === "string")) return undefined;
  return { id: requestId, reason };
}

function isToken(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isFields(value) && !Object.hasOwn(value, "__proto__");
}

function hasOnly(value: object, fields: ReadonlySet<string>): boolean {
  for (const field in value) if (!fields.has(field)) return false;
  return true;
}
