import type { Json } from "../util/json.ts";
import { toTable } from "./table.ts";

type Fields = { readonly [key: string]: Json };

/**
 * Writes a value for a model. Text stays text, also beside images and links; rows of one shape become a table where
 * that is shorter; anything else is JSON.
 */
export function toContentText(value: Json): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return rowsText(value) ?? JSON.stringify(value);
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return mixedText(value) ?? recordText(value) ?? JSON.stringify(value);
}

function rowsText(items: readonly Json[]): string | undefined {
  const table = toTable(items);
  return table !== undefined && table.length < JSON.stringify(items).length ? table : undefined;
}

/** A record with one list of rows: the other fields as JSON in one line, then the rows as a table. */
function recordText(record: Fields): string | undefined {
  let only: { readonly name: string; readonly table: string } | undefined;
  for (const name in record) {
    const field = record[name]!;
    const table = Array.isArray(field) ? toTable(field) : undefined;
    if (table === undefined) continue;
    if (only) return undefined;
    only = { name, table };
  }
  if (!only) return undefined;
  const { [only.name]: _, ...rest } = record;
  const head = Object.keys(rest).length > 0 ? `${JSON.stringify(rest)}\n` : "";
  const text = `${head}${JSON.stringify(only.name)} as a table:\n${only.table}`;
  return text.length < JSON.stringify(record).length ? text : undefined;
}

const MIXED = new Set(["text", "structured", "content", "blocks"]);

/** The parts of a result that has more than text: the text or structure, then each block. */
function mixedText(record: Fields): string | undefined {
  const { text, structured, content, blocks = content } = record;
  if (!Array.isArray(blocks) || blocks.length === 0) return undefined;
  if (Object.keys(record).some((name) => !MIXED.has(name))) return undefined;
  const lines = blocks.map((block) => blockText(block));
  if (lines.some((line) => line === undefined)) return undefined;
  const main = text ?? structured;
  return [...(main === undefined ? [] : [toContentText(main)]), ...lines].join("\n");
}

function blockText(block: Json): string | undefined {
  if (block === null || typeof block !== "object" || Array.isArray(block)) return undefined;
  const { type, uri, name, mimeType, bytes, text } = block;
  if (type === "resource_link" && typeof uri === "string")
    return `[link ${typeof name === "string" ? `${JSON.stringify(name)} ` : ""}${inLine(uri)}]`;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource" && typeof text === "string") return `[${inLine(String(uri))}]\n${text}`;
  if (typeof bytes !== "number" || typeof type !== "string") return undefined;
  const facts = [uri, mimeType].filter((fact) => typeof fact === "string").map(inLine);
  return `[${[type, ...facts].join(" ")}, ${bytes} bytes]`;
}

/** Nothing from outside may end the line or the bracket that it stands in. */
function inLine(text: string): string {
  return /^[\w\-.~:/?#@!$&'()*+,;=%]+$/.test(text) ? text : JSON.stringify(text);
}
