import { toVisibleText } from "../../base/safety/visible-text.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Entity, ExtractionSchema, ToolEntry } from "../nouns/entry.ts";

const MOST_REPORTED = 1_000;

export type Extractor = ReturnType<typeof createExtractor>;

/** Finds entities in results. Calls `onFailed` once for each tool whose extraction fails. */
export function createExtractor(onFailed: (detail: string) => void) {
  const reported = new Set<string>();
  let results = 0;
  let processed = 0;

  function fail(op: string, error: unknown): void {
    if (reported.has(op) || reported.size >= MOST_REPORTED) return;
    reported.add(op);
    onFailed(`${op}: ${reasonOf(error)}`);
  }

  return {
    /** Must not throw: extraction never fails a call. */
    extract: (tool: ToolEntry, result: unknown, now: Date): Entity[] => {
      if (!tool.extraction && !tool.extractEntities) return [];
      results += 1;
      try {
        const entities = extractEntities(tool, result, now);
        processed += 1;
        return entities;
      } catch (error) {
        fail(tool.op, error);
        return [];
      }
    },
    /** Set if there were results and none was processed. */
    get warning() {
      return results > 0 && processed === 0
        ? `${results} tool results received but 0 processed. Entity extraction may be broken.`
        : undefined;
    },
  };
}

/** How to find entities in a tool's results. Its own extractor wins over its schema. */
export type Extraction = Pick<ToolEntry, "extraction" | "extractEntities">;

export const MOST_FROM_ONE_RESULT = 5;
const MOST_LOOKED_AT = 100;
const MOST_STEPS = 32;
const ROOT = "$root";
const TYPE_CHARS = 64;
const ID_CHARS = 256;
const NAME_CHARS = 160;

/** Finds at most five entities in a result. Errors of the tool's own extractor pass through. */
export function extractEntities(tool: Extraction, result: unknown, now = new Date()): Entity[] {
  const { extraction: schema, extractEntities: extract } = tool;
  if (extract) return collect(extract(result), (candidate) => toEntity(candidate, now));
  if (!schema) return [];
  const target = schema.path === ROOT ? result : follow(result, schema.path);
  const candidates = schema.isArray ? target : [target];
  return collect(candidates, (candidate) => toEntity(read(candidate, schema), now));
}

function collect(candidates: unknown, entityOf: (candidate: unknown) => Entity | undefined): Entity[] {
  if (!Array.isArray(candidates)) return [];
  return candidates
    .slice(0, MOST_LOOKED_AT)
    .flatMap((candidate) => entityOf(candidate) ?? [])
    .slice(0, MOST_FROM_ONE_RESULT);
}

function read(candidate: unknown, { type, nameField, idField = "id" }: ExtractionSchema): unknown {
  return { type, id: follow(candidate, idField), name: follow(candidate, nameField) };
}

/** Undefined without a type, an id and a name. */
function toEntity(candidate: unknown, now: Date): Entity | undefined {
  const type = wordsOf(own(candidate, "type"), TYPE_CHARS);
  const id = idOf(own(candidate, "id"));
  const name = wordsOf(own(candidate, "name"), NAME_CHARS);
  if (type === "" || id === "" || name === "") return undefined;
  return { type, id, name, timestamp: timeOf(own(candidate, "timestamp"), now) };
}

/** A changed id is useless: refuse ids that would have to be cut or cleaned. */
function idOf(value: unknown): string {
  const id = wordsOf(value, ID_CHARS);
  return typeof value === "number" || id === value ? id : "";
}

function wordsOf(value: unknown, maxChars: number): string {
  if (typeof value !== "string" && !(typeof value === "number" && Number.isFinite(value))) return "";
  // Names from outside have any length; read only a part.
  const text = String(value).slice(0, maxChars * 4);
  return toVisibleText(text.replace(/\s/g, " "), maxChars).trim();
}

/** Future timestamps would never expire. */
function timeOf(value: unknown, now: Date): Date {
  return value instanceof Date && value <= now ? value : now;
}

/** Follows a dotted path. A field with exactly that name wins. */
function follow(value: unknown, path: string): unknown {
  return own(value, path) ?? path.split(".", MOST_STEPS).reduce(own, value);
}

function own(value: unknown, key: string): unknown {
  const has = typeof value === "object" && value !== null && Object.hasOwn(value, key);
  return has ? Reflect.get(value, key) : undefined;
}
