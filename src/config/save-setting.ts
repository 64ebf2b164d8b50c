import { mkdir, readFile, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { problem } from "../schema/problem.ts";
import { field, isFields } from "../util/fields.ts";
import type { Json } from "../util/json.ts";
import { parseJsonc } from "../util/parse-jsonc.ts";
import { writeFileAtomic } from "../util/write-file-atomic.ts";
import { readSettingsFile } from "./read-settings-file.ts";
import { settingsFileSchema } from "./settings-schema.ts";

export interface Saving {
  /** The settings file; it is made if there is none. */
  readonly file: string;
}

/** Only its owner reads it: it may hold keys. */
const MODE = 0o600;
const INDENT = "  ";

let turn: Promise<unknown> = Promise.resolve();

/**
 * Sets one setting in a file, at a path such as `providers.default`. Comments and the rest of the file stay as
 * they are. A file that is wrong, or would be, is not touched.
 */
export function saveSetting(path: string, value: Json, { file }: Saving): Promise<void> {
  const saved = turn.then(() => save(path.split("."), value, file));
  turn = saved.catch(() => {});
  return saved;
}

async function save(path: readonly string[], value: unknown, file: string): Promise<void> {
  const read = await readSettingsFile(file);
  if (read.state === "wrong") throw read.problems[0];
  const checked = settingsFileSchema.safeParse(
    withValue(read.state === "read" ? read.value : {}, path, value),
  );
  if (!checked.success) {
    const reason = checked.error.issues.map(({ message }) => message).join("; ");
    throw problem("FILE_INVALID", { file, line: 1, column: 1, reason: `${path.join(".")}: ${reason}` });
  }
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const current = read.state === "read" ? await readFile(file, "utf8") : "";
  const text = await withSetting(current.trim() === "" ? "{}\n" : current, path, value);
  const reread = await parseJsonc(text);
  if (!reread.ok || !isDeepStrictEqual(settingsFileSchema.safeParse(reread.value).data, checked.data)) {
    throw problem("FILE_INVALID", { file, line: 1, column: 1, reason: "it can only be changed by hand" });
  }
  // A link to the file stays a link.
  await writeFileAtomic(await realpath(file).catch(() => file), text, MODE);
}

/** The text of a settings file with one value set, everything else as it was. */
async function withSetting(text: string, path: readonly string[], value: unknown): Promise<string> {
  const parsed = await parseJsonc(text);
  if (!parsed.ok) return `${JSON.stringify(withValue({}, path, value), undefined, 2)}\n`;
  const whole = parsed.spanOf(path);
  if (whole) return splice(text, whole.start, whole.end, toText(value, path.length));
  const depth = path.findIndex((_, index) => !parsed.spanOf(path.slice(0, index + 1)));
  const parent = path.slice(0, depth);
  const added = `${JSON.stringify(path[depth])}: ${toText(withValue({}, path.slice(depth + 1), value), depth + 1)}`;
  const line = `\n${INDENT.repeat(depth + 1)}${added}`;
  const holder = parent.reduce<unknown>(field, parsed.value);
  const lastKey = isFields(holder) ? Object.keys(holder).at(-1) : undefined;
  const { start, end } = parsed.spanOf(parent)!;
  if (lastKey === undefined) {
    const closing = /\n\s*$/.test(text.slice(start, end - 1)) ? "" : `\n${INDENT.repeat(depth)}`;
    return splice(text, start + 1, start + 1, line + (end - start === 2 ? closing : ""));
  }
  const lastValue = parsed.spanOf([...parent, lastKey])!;
  return insertAfter(text, lastValue.end, line);
}

/** Behind the comma and the comment that stand on the line of the value, so that they stay with it. */
function insertAfter(text: string, end: number, line: string): string {
  const stop = text.indexOf("\n", end);
  const rest = stop === -1 ? "" : text.slice(end, stop).trim();
  const comma = rest.startsWith(",");
  const remark = comma ? rest.slice(1).trimStart() : rest;
  const isAlone = stop !== -1 && (remark === "" || remark.startsWith("//"));
  if (!isAlone) return splice(text, end, end, `,${line}`);
  const withLine = splice(text, stop, stop, line);
  return comma ? withLine : splice(withLine, end, end, ",");
}

function splice(text: string, start: number, end: number, piece: string): string {
  return text.slice(0, start) + piece + text.slice(end);
}

function toText(value: unknown, depth: number): string {
  return JSON.stringify(value, undefined, 2).replaceAll("\n", `\n${INDENT.repeat(depth)}`);
}

function withValue(holder: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const fields = isFields(holder) ? holder : {};
  const entries = new Map(Object.entries(fields)).set(key, withValue(field(fields, key), rest, value));
  return Object.fromEntries(entries);
}
