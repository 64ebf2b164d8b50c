import { ENDS_ROW, UNESCAPED_BY_JSON } from "../../base/safety/invisible.ts";
import type { Json } from "../../base/util/json.ts";
import { isJsonRecord, type JsonRecord } from "./blocks.ts";

/**
 * Writes a value for a model. Text stays text, also beside images and links; rows of one shape become a table where
 * that is shorter; anything else is JSON.
 */
export function toContentText(value: Json): string {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const mixed = Array.isArray(value) ? undefined : mixedText(value);
  if (mixed !== undefined) return mixed;
  const json = JSON.stringify(value);
  const table = Array.isArray(value) ? toTable(value) : recordText(value);
  return table !== undefined && table.length < json.length ? table : json;
}

/** A record with one list of rows: the other fields as JSON in one line, then the rows as a table. */
function recordText(record: JsonRecord): string | undefined {
  const tables = Object.entries(record).flatMap(([name, field]) => {
    const table = Array.isArray(field) ? toTable(field) : undefined;
    return table === undefined ? [] : [{ name, table }];
  });
  const [only] = tables;
  if (!only || tables.length > 1) return undefined;
  const { [only.name]: _, ...rest } = record;
  const head = Object.keys(rest).length > 0 ? `${JSON.stringify(rest)}\n` : "";
  return `${head}${JSON.stringify(only.name)} as a table:\n${only.table}`;
}

const MIXED = new Set(["text", "structured", "content", "blocks"]);

/** The parts of a result that has more than text: the text or structure, then each block. */
function mixedText(record: JsonRecord): string | undefined {
  const { text, structured, content, blocks = content } = record;
  if (!Array.isArray(blocks) || blocks.length === 0) return undefined;
  if (Object.keys(record).some((name) => !MIXED.has(name))) return undefined;
  const lines = blocks.map((block) => blockText(block));
  if (lines.some((line) => line === undefined)) return undefined;
  const main = text ?? structured;
  return [...(main === undefined ? [] : [toContentText(main)]), ...lines].join("\n");
}

function blockText(block: Json): string | undefined {
  if (!isJsonRecord(block)) return undefined;
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

/** Fewer rows are as short as JSON. */
const LEAST_ROWS = 3;
/** Rows with more missing fields than this share have no common shape. */
const MOST_MISSING = 0.25;
const MOST_COLUMNS = 64;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const WORD = /^(true|false|null)$/;
/** Characters that end a cell or a row, or that a reader would not see, are written out in a quoted text. */
const QUOTED = new RegExp(`[",]|^[\\s[{]|\\s$|${ENDS_ROW.source}`, "u");

/**
 * Writes rows of one shape as a table: the names of the fields, then a line for each row, separated by commas.
 * Texts stand without quotes unless that would be ambiguous; everything else is JSON; an empty cell is a missing
 * field. Undefined for rows of different shapes.
 */
export function toTable(rows: readonly Json[]): string | undefined {
  if (rows.length < LEAST_ROWS || !rows.every(isJsonRecord)) return undefined;
  const columns = columnsOf(rows);
  if (columns === undefined) return undefined;
  const lines = rows.map((row) =>
    columns.map((name) => (Object.hasOwn(row, name) ? toCell(row[name]!) : "")).join(","),
  );
  return [columns.map(toCell).join(","), ...lines].join("\n");
}

function columnsOf(rows: readonly JsonRecord[]): string[] | undefined {
  const columns = new Set(Object.keys(rows[0]!));
  let present = 0;
  for (const row of rows) {
    const keys = Object.keys(row);
    present += keys.length;
    for (const key of keys) columns.add(key);
    if (columns.size > MOST_COLUMNS) return undefined;
  }
  const cells = columns.size * rows.length;
  // A table of one column would write a row without that field as an empty line.
  if (columns.size === 0 || (columns.size === 1 && present < cells)) return undefined;
  return present < cells * (1 - MOST_MISSING) ? undefined : [...columns];
}

function toCell(value: Json): string {
  if (typeof value === "string" && isPlain(value)) return value;
  return JSON.stringify(value).replace(
    UNESCAPED_BY_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function isPlain(text: string): boolean {
  return text !== "" && !QUOTED.test(text) && !NUMBER.test(text) && !WORD.test(text);
}
