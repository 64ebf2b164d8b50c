import { lazy } from "./lazy.ts";

const MOST_IDS = 200;
const MOST_VALUES = 5_000;
const ID_CHARS = 256;
const TEXT_CHARS = 20_000;
/** Fields that identify a thing: `id`, `task_id`, `taskId`, `issue_ids`, `number`, `path` and the like. */
const ID_FIELD = /(?:^|_)(?:ids?|uuids?|guid|key|slug|number|path|uri|url)$|[a-z](?:Ids?|Uuid)$/i;
/** Words of a text that look like an id, because they have a digit. */
const idWord = lazy(() => /[\p{L}\p{N}_:.-]{0,64}\d[\p{L}\p{N}_:.-]{0,64}/gu);

interface Field {
  readonly name: string;
  readonly value: unknown;
}

/** Collects the values that identify things in a JSON value, and the words of a text that look like ids. */
export function idsIn(value: unknown): string[] {
  const ids = new Set<string>();
  const fields: Field[] = [{ name: "", value }];
  for (let at = 0; at < fields.length && ids.size < MOST_IDS; at++) {
    const field = fields[at]!;
    if (isId(field)) ids.add(String(field.value));
    else if (typeof field.value === "string" && field.name === "") addWords(field.value, ids);
    else addFields(field, fields);
  }
  return [...ids];
}

function isId({ name, value }: Field): boolean {
  if (!ID_FIELD.test(name)) return false;
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" && value !== "" && value.length <= ID_CHARS;
}

/** Items of a list count as the field itself. */
function addFields({ name, value }: Field, fields: Field[]): void {
  if (typeof value !== "object" || value === null) return;
  const isList = Array.isArray(value);
  for (const key in value) {
    if (fields.length >= MOST_VALUES) return;
    fields.push({ name: isList ? name : key, value: (value as Readonly<Record<string, unknown>>)[key] });
  }
}

function addWords(text: string, ids: Set<string>): void {
  for (const [word] of text.slice(0, TEXT_CHARS).matchAll(idWord())) {
    if (ids.size >= MOST_IDS) return;
    ids.add(word.replace(/[.:-]{1,64}$/, ""));
  }
}
