import { SERVER_INFO_META_KEY } from "@modelcontextprotocol/server";
import { isFields } from "../util/fields.ts";
import type { ToolResult } from "./call-native.ts";

/** The protocol that an answer is written in. */
export type Era = "legacy" | "modern";

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

const FIELDS = new Set(["_meta", "content", "structuredContent", "isError"]);

/**
 * Returns a result as the SDK would send it, field by field in the same order. Undefined for any result that the
 * SDK has to check or change first: pictures, links, questions, unknown fields.
 */
export function toPlainResult(result: ToolResult, era: Era, serverInfo: ServerInfo): object | undefined {
  const { content, structuredContent, isError } = result as Readonly<Record<string, unknown>>;
  if (!Array.isArray(content) || !(isError === undefined || typeof isError === "boolean")) return undefined;
  for (const field in result) if (!FIELDS.has(field)) return undefined;
  if (structuredContent !== undefined && !isRecord(structuredContent)) return undefined;
  const given = (result as { _meta?: unknown })._meta;
  // The server behind a tool has signed the result; any other metadata is for the SDK to check.
  if (given !== undefined && !isSigned(given)) return undefined;
  const blocks: object[] = [];
  for (const block of content) {
    if (!isText(block)) return undefined;
    blocks.push({ type: "text", text: block.text });
  }
  const body = {
    ...(given !== undefined && { _meta: given }),
    content: blocks,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError !== undefined && { isError }),
  };
  if (era === "legacy") return body;
  return {
    ...body,
    resultType: "complete",
    ...(given === undefined && { _meta: { [SERVER_INFO_META_KEY]: serverInfo } }),
  };
}

function isText(block: unknown): block is { readonly text: string } {
  if (!isFields(block) || block.type !== "text" || typeof block.text !== "string") return false;
  for (const field in block) if (field !== "type" && field !== "text") return false;
  return true;
}

/** Other prototypes, and a key of that name, would not survive a copy. */
function isRecord(value: unknown): boolean {
  return isFields(value) && !Object.hasOwn(value, "__proto__");
}

function isSigned(meta: unknown): boolean {
  if (!isFields(meta)) return false;
  const [key, ...more] = Object.keys(meta);
  const info = meta[SERVER_INFO_META_KEY];
  if (key !== SERVER_INFO_META_KEY || more.length > 0 || !isFields(info)) return false;
  const isNamed = typeof info.name === "string" && typeof info.version === "string";
  return isNamed && Object.keys(info).join() === "name,version";
}
