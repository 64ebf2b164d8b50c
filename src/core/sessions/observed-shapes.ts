import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { lazy } from "../../base/util/lazy.ts";
import { makeFolder } from "../../base/util/make-folder.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import { definitionHash, type Entry } from "../nouns/entry.ts";
import type { Principal } from "../nouns/principal.ts";

export type ObservedShapes = ReturnType<typeof createObservedShapes>;

/** The view of a caller, as far as shapes need it. */
interface ShapeOwner {
  readonly scopeKey: string;
  readonly principal: Pick<Principal, "id">;
}

const MOST_SHAPES = 5_000;
const SAVE_MS = 5_000;
/** Later results seldom add anything. */
const MOST_RESULTS = 20;
const MOST_DEPTH = 4;
const MOST_ITEMS = 20;
/** Objects with more fields, or with fields that are no names, are taken for tables whose keys are values. */
const MOST_FIELDS = 40;
const NAME = /^[A-Za-z_$][\w$-]{0,39}$/;

/**
 * Remembers what kind of value each tool returns: names of fields and types, never values. With a path, a file keeps
 * the shapes, so that a restart knows them.
 */
export function createObservedShapes(path?: string) {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  // The first use reads the file: a start does not need it.
  const known = lazy(() => {
    const cache = new LRUCache<string, ShapeRecord>({ max: MOST_SHAPES });
    for (const [key, record] of path === undefined ? [] : readShapes(path)) cache.set(key, record);
    return cache;
  });

  /** Writes what is not in the file yet. */
  async function save(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (path === undefined || changed.size === 0) return;
    const records = [...changed].flatMap((key) => {
      const record = known().peek(key);
      return record ? [[key, record] as const] : [];
    });
    changed.clear();
    await writeShapes(path, records);
  }

  return {
    save,
    /** Adds a result. Only the same caller with the same scopes may read it: names of fields can be values. */
    note: (caller: ShapeOwner, entry: Entry, value: unknown): void => {
      if (entry.kind !== "tool" || entry.presentation?.outputSchema) return;
      const key = keyOf(caller, entry);
      const before = known().get(key);
      const results = (before?.results ?? 0) + 1;
      if (results > MOST_RESULTS) return;
      const shape = shapeOf(value, MOST_DEPTH);
      known().set(key, { shape: before ? merge(before.shape, shape) : shape, results });
      changed.add(key);
      timer ??= setTimeout(() => void save(), SAVE_MS).unref();
    },
    /** The shape of the caller's results so far, as a JSON Schema. */
    of: (caller: ShapeOwner, entry: Entry): JsonSchema | undefined =>
      known().get(keyOf(caller, entry))?.shape,
  };
}

/** A changed definition starts without observations. */
function keyOf(caller: ShapeOwner, entry: Entry): string {
  return `${entry.op} ${definitionHash(entry)} ${hashOf(caller)}`;
}

const hashOf = memoizeByObject(({ scopeKey, principal }: ShapeOwner) =>
  contentHash([scopeKey, principal.id]).slice(0, 16),
);

function shapeOf(value: unknown, depth: number): JsonSchema {
  if (value === null || typeof value !== "object") return { type: value === null ? "null" : typeof value };
  if (Array.isArray(value)) {
    if (depth === 0 || value.length === 0) return { type: "array" };
    return {
      type: "array",
      items: value
        .slice(0, MOST_ITEMS)
        .map((item) => shapeOf(item, depth - 1))
        .reduce(merge),
    };
  }
  const fields = firstFields(value, MOST_FIELDS + 1);
  if (depth === 0 || fields.length === 0) return { type: "object" };
  if (fields.length > MOST_FIELDS || fields.some(([name]) => !NAME.test(name))) {
    const items = fields.slice(0, MOST_ITEMS).map(([, item]) => shapeOf(item, depth - 1));
    return { type: "object", additionalProperties: items.reduce(merge) };
  }
  const properties = Object.fromEntries(fields.map(([name, item]) => [name, shapeOf(item, depth - 1)]));
  return { type: "object", properties, required: fields.map(([name]) => name) };
}

function firstFields(value: object, most: number): [string, unknown][] {
  const fields: [string, unknown][] = [];
  for (const name in value) {
    fields.push([name, (value as Readonly<Record<string, unknown>>)[name]]);
    if (fields.length === most) break;
  }
  return fields;
}

/** The shape of values of either shape. */
function merge(one: JsonSchema, other: JsonSchema): JsonSchema {
  const [a, b] = [alternatives(one), alternatives(other)];
  const merged = new Map(a.map((shape) => [shape.type, shape]));
  for (const shape of b) {
    const known = merged.get(shape.type);
    merged.set(shape.type, known ? mergeSame(known, shape) : shape);
  }
  const all = [...merged.values()];
  return all.length === 1 ? all[0]! : { anyOf: all };
}

function alternatives(shape: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(shape.anyOf) ? (shape.anyOf as JsonSchema[]) : [shape];
}

function mergeSame(one: JsonSchema, other: JsonSchema): JsonSchema {
  if (one.type === "array") {
    const items = [one.items, other.items].filter(isPlainObject) as JsonSchema[];
    return items.length === 0 ? one : { type: "array", items: items.reduce(merge) };
  }
  if (one.type !== "object") return one;
  const tables = [one, other].flatMap((shape) =>
    isPlainObject(shape.additionalProperties) ? [shape.additionalProperties as JsonSchema] : [],
  );
  const fields = [...Object.entries(fieldsOf(one)), ...Object.entries(fieldsOf(other))];
  const names = new Set(fields.map(([name]) => name));
  if (tables.length > 0 || names.size > MOST_FIELDS) {
    const all = [...tables, ...fields.map(([, shape]) => shape)];
    return { type: "object", additionalProperties: all.reduce(merge) };
  }
  if (names.size === 0) return one;
  const properties: Record<string, JsonSchema> = {};
  for (const [name, shape] of fields)
    properties[name] = properties[name] ? merge(properties[name], shape) : shape;
  const required = namesOf(one).filter((name) => namesOf(other).includes(name));
  return { type: "object", properties, required };
}

function fieldsOf({ properties }: JsonSchema): Record<string, JsonSchema> {
  return (properties ?? {}) as Record<string, JsonSchema>;
}

function namesOf({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? (required as string[]) : [];
}

const recordSchema = z.object({ shape: z.record(z.string(), z.unknown()), results: z.int().min(1) });
const fileSchema = z.array(z.tuple([z.string().max(4_096), recordSchema]));

/** The shape of a tool's results, and how many results it was seen in. */
type ShapeRecord = z.output<typeof recordSchema>;

const KEPT = 1_000;
const MAX_CHARS = 4 * 2 ** 20;

/** Reads the shapes of earlier runs. A missing or damaged file has none. */
function readShapes(path: string): readonly (readonly [string, ShapeRecord])[] {
  try {
    const text = readFileSync(path, "utf8");
    return text.length > MAX_CHARS ? [] : fileSchema.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

/** Adds shapes to the file and keeps the newest KEPT. Must not throw. */
async function writeShapes(path: string, shapes: readonly (readonly [string, ShapeRecord])[]): Promise<void> {
  const all = [...new Map([...readShapes(path), ...shapes])].slice(-KEPT);
  try {
    makeFolder(dirname(path));
    await writeFileAtomic(path, JSON.stringify(all), 0o600);
  } catch {
    // Shapes that are not kept are observed again.
  }
}
