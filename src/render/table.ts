import type { Json } from "../util/json.ts";

type Row = { readonly [key: string]: Json };

/** Fewer rows are as short as JSON. */
const LEAST_ROWS = 3;
/** Rows with more missing fields than this share have no common shape. */
const MOST_MISSING = 0.25;
const MOST_COLUMNS = 64;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const WORD = /^(true|false|null)$/;
/** Characters that end a cell or a row, or that a reader would not see, are written out in a quoted text. */
const QUOTED = /[",\p{Cc}\p{Zl}\p{Zp}]|^[\s[{]|\s$/u;
const UNESCAPED = /[\x7f-\x9f\u2028\u2029]/g;

/**
 * Writes rows of one shape as a table: the names of the fields, then a line for each row, separated by commas.
 * Texts stand without quotes unless that would be ambiguous; everything else is JSON; an empty cell is a missing
 * field. Undefined for rows of different shapes.
 */
export function toTable(rows: readonly Json[]): string | undefined {
  if (rows.length < LEAST_ROWS || !rows.every(isRow)) return undefined;
  const columns = columnsOf(rows);
  if (columns === undefined) return undefined;
  const lines = rows.map((row) =>
    columns.map((name) => (Object.hasOwn(row, name) ? toCell(row[name]!) : "")).join(","),
  );
  return [columns.map(toCell).join(","), ...lines].join("\n");
}

function columnsOf(rows: readonly Row[]): string[] | undefined {
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
    UNESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function isPlain(text: string): boolean {
  return text !== "" && !QUOTED.test(text) && !NUMBER.test(text) && !WORD.test(text);
}

function isRow(value: Json): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
