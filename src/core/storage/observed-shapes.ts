import { z } from "zod";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { definitionHash } from "../nouns/definition-hash.ts";
import type { Entry } from "../nouns/entry.ts";
import type { Principal } from "../nouns/principal.ts";
import { createFairCache } from "./fair-cache.ts";
import { openRecordFile } from "./record-file.ts";
import { openRecords, type Records } from "./records.ts";

/** The parts of a caller's view that shapes need. */
interface ShapeOwner {
  readonly scopeKey: string;
  readonly principal: Pick<Principal, "id">;
}

const MOST_SHAPES = 2_000;
const SAVE_MS = 5_000;
/** Later results rarely add anything. */
const MOST_RESULTS = 20;
const MOST_DEPTH = 4;
const MOST_ITEMS = 20;
/** An object with more fields, or with fields that are not names, counts as a table whose keys are values. */
const MOST_FIELDS = 40;
const NAME = /^[A-Za-z_$][\w$-]{0,39}$/;

/** Remembers the type of each tool's results (names and types, never values), with a path across restarts. */
export class ObservedShapes {
  private readonly records: Records<ShapeRecord> | undefined;
  private readonly shapes = createFairCache<ShapeRecord>({
    all: { entries: MOST_SHAPES, size: MOST_SHAPES },
    perOwner: { entries: MOST_SHAPES / 2, size: MOST_SHAPES },
    ttlMs: Number.POSITIVE_INFINITY,
    onRemoved: (key) => this.unsaved.set(key, undefined),
  });
  private unsaved = new Map<string, ShapeRecord | undefined>();
  private timer: NodeJS.Timeout | undefined;
  private isLoaded = false;

  constructor(path?: string) {
    if (path !== undefined) this.records = openRecords(openRecordFile(path), "shape", recordSchema);
  }

  /** Adds a result. Only the same caller with the same scopes sees its shape: names of fields can be values. */
  note(caller: ShapeOwner, entry: Entry, value: unknown): void {
    if (entry.kind !== "tool" || entry.presentation?.outputSchema) return;
    const before = this.find(caller, entry);
    const results = (before?.results ?? 0) + 1;
    if (results > MOST_RESULTS) return;
    const shape = shapeOf(value, MOST_DEPTH);
    const key = keyOf(caller, entry);
    const record = { shape: before ? merge(before.shape, shape) : shape, results };
    this.shapes.set(key, hashOf(caller), record);
    this.unsaved.set(key, record);
    this.timer ??= setTimeout(() => void this.save(), SAVE_MS).unref();
  }

  /** The shape of the caller's results so far, as JSON Schema. */
  of(caller: ShapeOwner, entry: Entry): JsonSchema | undefined {
    return this.find(caller, entry)?.shape;
  }

  /** Writes new shapes to the file. Never rejects: lost shapes are observed again. */
  async save(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const changes = this.unsaved;
    this.unsaved = new Map();
    await this.records?.change(changes).catch(() => {});
  }

  private find(caller: ShapeOwner, entry: Entry): ShapeRecord | undefined {
    if (!this.isLoaded) this.load();
    return this.shapes.renew(keyOf(caller, entry), hashOf(caller));
  }

  /** Loaded on first use: a start does not need it. */
  private load(): void {
    this.isLoaded = true;
    try {
      this.records?.refresh();
    } catch {
      return;
    }
    for (const [key, record] of this.records?.entries() ?? [])
      this.shapes.set(key, key.slice(key.lastIndexOf(" ") + 1), record);
  }
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

/** A shape that fits values of both shapes. */
function merge(one: JsonSchema, other: JsonSchema): JsonSchema {
  const [a, b] = [alternatives(one), alternatives(other)];
  const merged = new Map(a.map((shape) => [shape.type, shape]));
  for (const shape of b) {
    const earlier = merged.get(shape.type);
    merged.set(shape.type, earlier ? mergeSame(earlier, shape) : shape);
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

/** The shape of a tool's results, and the number of results behind it. */
type ShapeRecord = z.output<typeof recordSchema>;
