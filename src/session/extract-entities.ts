import type { ToolEntry } from "../schema/entry.ts";
import type { Entity, ExtractionSchema } from "../schema/extraction.ts";
import { cleanText } from "../util/clean-text.ts";

/** Where a tool says how the things in its results are found; its own extractor comes before its schema. */
export type Extraction = Pick<ToolEntry, "extraction" | "extractEntities">;

export const MOST_FROM_ONE_RESULT = 5;
const MOST_LOOKED_AT = 100;
const MOST_STEPS = 32;
const ROOT = "$root";
const TYPE_CHARS = 64;
const ID_CHARS = 256;
const NAME_CHARS = 160;

/** The things named in a result, at most five. What an extractor of the tool's own throws, it throws. */
export function extractEntities(tool: Extraction, result: unknown, now = new Date()): Entity[] {
  const { extraction: schema, extractEntities: own } = tool;
  if (own) return collect(own(result), (candidate) => toEntity(candidate, now));
  if (!schema) return [];
  const found = schema.path === ROOT ? result : follow(result, schema.path);
  const candidates = schema.isArray ? found : [found];
  return collect(candidates, (candidate) => toEntity(read(candidate, schema), now));
}

function collect(candidates: unknown, toEntity_: (candidate: unknown) => Entity | undefined): Entity[] {
  if (!Array.isArray(candidates)) return [];
  const entities: Entity[] = [];
  const most = Math.min(candidates.length, MOST_LOOKED_AT);
  for (let index = 0; index < most && entities.length < MOST_FROM_ONE_RESULT; index += 1) {
    const entity = toEntity_(candidates[index]);
    if (entity) entities.push(entity);
  }
  return entities;
}

function read(candidate: unknown, { type, nameField, idField = "id" }: ExtractionSchema): unknown {
  return { type, id: follow(candidate, idField), name: follow(candidate, nameField) };
}

/** A thing needs a type, an id and a name; without one of them it is none. */
function toEntity(candidate: unknown, now: Date): Entity | undefined {
  const type = wordsOf(own(candidate, "type"), TYPE_CHARS);
  const id = idOf(own(candidate, "id"));
  const name = wordsOf(own(candidate, "name"), NAME_CHARS);
  if (type === "" || id === "" || name === "") return undefined;
  return { type, id, name, timestamp: timeOf(own(candidate, "timestamp"), now) };
}

/** An id is of use only as it is, so one that would have to be cut or cleaned is none. */
function idOf(value: unknown): string {
  const id = wordsOf(value, ID_CHARS);
  return id === String(value) ? id : "";
}

function wordsOf(value: unknown, maxChars: number): string {
  if (typeof value !== "string" && !(typeof value === "number" && Number.isFinite(value))) return "";
  // Read no more than can be kept: names from outside have any length.
  const text = String(value).slice(0, maxChars * 4);
  return cleanText(text.replace(/\s/g, " "), maxChars).trim();
}

/** A time to come would keep the entity in the window for ever. */
function timeOf(value: unknown, now: Date): Date {
  return value instanceof Date && value <= now ? value : now;
}

/** Follows a dotted path; a field that is called just so comes first. */
function follow(value: unknown, path: string): unknown {
  if (has(value, path)) return value[path];
  let found = value;
  for (const step of path.split(".", MOST_STEPS)) found = own(found, step);
  return found;
}

function own(value: unknown, key: string): unknown {
  return has(value, key) ? value[key] : undefined;
}

function has(value: unknown, key: string): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}
