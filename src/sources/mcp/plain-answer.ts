import type { CallToolResult } from "@modelcontextprotocol/client";
import { isFields } from "../../util/fields.ts";

const FIELDS = new Set(["_meta", "content", "structuredContent", "isError", "resultType"]);
/** Copies of the SDK's keys, because the SDK is not loaded at the start. */
const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";
const CHECKED_META = ["progressToken", "io.modelcontextprotocol/related-task"];

/** Whether a connection speaks the newer protocol. */
export interface Era {
  readonly isModern: boolean;
}

/**
 * Reads a result of text, with or without structured content. Undefined for any other one, which the SDK has to read:
 * pictures and links, questions, and results that break the protocol.
 */
export function readPlainAnswer(result: unknown, { isModern }: Era): CallToolResult | undefined {
  if (!isFields(result)) return undefined;
  for (const field in result) if (!FIELDS.has(field)) return undefined;
  const { resultType, ...rest } = result;
  const { content, structuredContent, isError, _meta } = rest;
  if (resultType !== (isModern ? "complete" : undefined) || !Array.isArray(content)) return undefined;
  if (!(isError === undefined || typeof isError === "boolean") || !isPlainMeta(_meta)) return undefined;
  if (structuredContent !== undefined && !isFields(structuredContent)) return undefined;
  return content.every(isText) ? (rest as CallToolResult) : undefined;
}

function isText(block: unknown): boolean {
  if (!isFields(block) || block.type !== "text" || typeof block.text !== "string") return false;
  for (const field in block) if (field !== "type" && field !== "text") return false;
  return true;
}

function isPlainMeta(meta: unknown): boolean {
  if (meta === undefined) return true;
  if (!isFields(meta) || CHECKED_META.some((key) => key in meta)) return false;
  const info = meta[SERVER_INFO_KEY];
  if (info === undefined) return !(SERVER_INFO_KEY in meta);
  return isFields(info) && typeof info.name === "string" && typeof info.version === "string";
}
