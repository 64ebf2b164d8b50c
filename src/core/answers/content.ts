import { ENDS_ROW, UNESCAPED_BY_JSON } from "../../base/safety/invisible.ts";
import type { Json } from "../../base/util/json.ts";

/** An image, a sound, a file or a link of a result. A model gets it as what it is, never as base64 text. */
export type Block =
  | { readonly type: "image" | "audio"; readonly mimeType: string; readonly data: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType?: string; readonly blob: string };
    }
  | {
      readonly type: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly mimeType?: string;
    };

export interface Lifted {
  /** The value, in which a note of type and size stands for the data of each block. */
  readonly value: Json;
  /** The block of each note. */
  readonly blocks: ReadonlyMap<Json, Block>;
}

export type JsonRecord = { readonly [key: string]: Json };

const MOST_BLOCKS = 16;
const MOST_CHARS = 8_000_000;
const MOST_DEPTH = 6;
const MOST_ITEMS = 1_000;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MIME_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}(; ?[\w.+=-]{1,64})?$/;

/** Takes the data of images, sounds and files out of a value, and finds its links. */
export function liftBlocks(value: Json): Lifted {
  const blocks = new Map<Json, Block>();

  function walk(part: Json, depth: number): Json {
    if (part === null || typeof part !== "object" || depth > MOST_DEPTH) return part;
    if (Array.isArray(part)) {
      const items = part.slice(0, MOST_ITEMS).map((item) => walk(item, depth + 1));
      return items.every((item, at) => item === part[at]) ? part : [...items, ...part.slice(MOST_ITEMS)];
    }
    const block = toBlock(part);
    if (block) {
      const note = toNote(part, block);
      blocks.set(note, block);
      return note;
    }
    if (Object.keys(part).length > MOST_ITEMS) return part;
    const fields = Object.entries(part).map(([key, field]) => [key, walk(field, depth + 1)] as const);
    return fields.every(([key, field]) => field === part[key]) ? part : Object.fromEntries(fields);
  }

  return { value: walk(value, 0), blocks };
}

/** The blocks whose notes are in a part of a lifted value. `whole` is false if there are more than an answer takes. */
export function blocksIn(
  content: Json,
  blocks: Lifted["blocks"],
): { readonly blocks: readonly Block[]; readonly whole: boolean } {
  const found: Block[] = [];
  let chars = 0;
  let whole = true;
  const walk = (part: Json): void => {
    if (part === null || typeof part !== "object") return;
    const block = blocks.get(part);
    if (!block) {
      for (const inner of Object.values(part)) walk(inner);
      return;
    }
    const size = dataOf(block).length;
    const fits = found.length < MOST_BLOCKS && chars + size <= MOST_CHARS;
    if (fits) found.push(block);
    chars += fits ? size : 0;
    whole &&= fits || size === 0;
  };
  if (blocks.size > 0) walk(content);
  return { blocks: found, whole };
}

/** Links stay as they are: a text names them too. */
function toNote(part: JsonRecord, block: Block): Json {
  if (block.type === "resource_link") return part as Json;
  const { uri, mimeType } = isJsonRecord(part.resource) ? part.resource : part;
  return {
    type: block.type,
    ...(uri !== undefined && { uri }),
    ...(mimeType !== undefined && { mimeType }),
    bytes: Buffer.byteLength(dataOf(block), "base64"),
  };
}

/** A block that is not well-formed stays in the value: one bad block can make a client refuse the whole answer. */
function toBlock(part: JsonRecord): Block | undefined {
  const { type, data, uri, name } = part;
  const { mimeType } = mimeTypeOf(part);
  if (type === "image" || type === "audio")
    return isBase64(data) && mimeType !== undefined ? { type, mimeType, data } : undefined;
  if (type === "resource_link") {
    if (!isText(uri)) return undefined;
    return { type, uri, name: isText(name) ? name : uri, ...mimeTypeOf(part) };
  }
  if (type === "resource" && isJsonRecord(part.resource)) return toFile(part.resource, part.resource.blob);
  return type === "resource" || (type === undefined && typeof part.bytes === "number")
    ? toFile(part, data)
    : undefined;
}

/** A file that is an image or a sound becomes one: clients drop files that they do not know. */
function toFile(part: JsonRecord, blob: Json | undefined): Block | undefined {
  if (!isBase64(blob)) return undefined;
  const { uri } = part;
  const { mimeType } = mimeTypeOf(part);
  if (mimeType?.startsWith("image/")) return { type: "image", mimeType, data: blob };
  if (mimeType?.startsWith("audio/")) return { type: "audio", mimeType, data: blob };
  return isText(uri) ? { type: "resource", resource: { uri, ...mimeTypeOf(part), blob } } : undefined;
}

function mimeTypeOf({ mimeType }: JsonRecord): { readonly mimeType?: string } {
  return typeof mimeType === "string" && MIME_TYPE.test(mimeType) ? { mimeType } : {};
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "" && value.isWellFormed();
}

function dataOf(block: Block): string {
  if (block.type === "resource_link") return "";
  return block.type === "resource" ? block.resource.blob : block.data;
}

function isBase64(value: Json | undefined): value is string {
  return typeof value === "string" && value.length % 4 === 0 && BASE64.test(value);
}

interface HasBlocks {
  readonly blocks?: readonly Block[];
}

/** The images, sounds, files and links in the answer of any operation, each once, in the order of its results. */
export function blocksOf(answer: unknown): readonly Block[] {
  const { blocks = [], results = [] } = (answer ?? {}) as HasBlocks & {
    readonly results?: readonly { readonly data?: HasBlocks; readonly exec?: HasBlocks }[];
  };
  const all = [...blocks, ...results.flatMap(({ data, exec }) => (data ?? exec)?.blocks ?? [])];
  return [
    ...new Map(
      all.map((block) => [block.type === "resource_link" ? block.uri : dataOf(block), block]),
    ).values(),
  ];
}

export function isJsonRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

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

/** Counts the characters of a value's JSON without writing it. Stops soon after `limit`. */
export function jsonChars(value: Json, limit = Number.POSITIVE_INFINITY): number {
  if (typeof value === "string") return value.length + 2;
  if (value === null || typeof value !== "object") return String(value).length;
  let chars = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      chars += jsonChars(item, limit - chars) + 1;
      if (chars > limit) return chars;
    }
    return chars;
  }
  for (const key of Object.keys(value)) {
    chars += key.length + 4 + jsonChars(value[key]!, limit - chars);
    if (chars > limit) return chars;
  }
  return chars;
}
