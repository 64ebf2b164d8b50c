import { hidesText, toVisibleText } from "../safety/visible-text.ts";
import { isPlainObject, setMember } from "../util/plain-object.ts";
import type { JsonSchema } from "./json-schema.ts";
import { buildSchemaGraph, type GraphSchema, MAX_SCHEMA_DEPTH, type SchemaNode } from "./schema-graph.ts";
import { type KeywordHolds, SCHEMA_KEYWORDS } from "./schema-keywords.ts";
import { mapSchema, type SchemaMapper } from "./walk-schema.ts";

const MAX_BYTES = 256 * 1024;
const MAX_ENUM_BYTES = 64 * 1024;
const MAX_EXPANSION = 10_000;
/** A schema level takes two levels of JSON. Defaults and examples need more. */
const MAX_JSON_DEPTH = 4 * MAX_SCHEMA_DEPTH;

/** The result of {@link readSchema}. */
type ReadOutcome =
  | { readonly ok: true; readonly schema: GraphSchema; readonly nodes: readonly SchemaNode[] }
  | { readonly ok: false; readonly reason: string };

/** Copies an outside schema within every limit and lists its parts, or says why not. Fast on hostile values. */
export function readSchema(schema: unknown): ReadOutcome {
  if (typeof schema !== "object" || schema === null) return refusal("it is not an object");
  const copied = copyJson(schema);
  if (!copied.ok) return copied;
  const graph = buildSchemaGraph(copied.copy);
  if (!graph.ok) return graph;
  const reason = checkEnums(graph.nodes) ?? checkHidden(graph.nodes) ?? checkExpansion(graph.nodes);
  return reason === undefined ? { ok: true, schema: copied.copy, nodes: graph.nodes } : { ok: false, reason };
}

function checkEnums(nodes: readonly SchemaNode[]): string | undefined {
  for (const { schema, field } of nodes) {
    if (!Object.hasOwn(schema, "enum")) continue;
    if (JSON.stringify(schema.enum).length <= MAX_ENUM_BYTES) continue;
    return `the enum of ${field || "the root"} is larger than ${MAX_ENUM_BYTES / 1024} KB`;
  }
  return undefined;
}

/** Names and choices must be sent unchanged, so they cannot be cleaned like prose. */
function checkHidden(nodes: readonly SchemaNode[]): string | undefined {
  for (const { schema, field } of nodes) {
    for (const keyword of Object.keys(schema)) {
      if (!hidesWords(keyword, schema[keyword])) continue;
      const isChoice = SCHEMA_KEYWORDS.get(keyword)?.holds === "data";
      return `${isChoice ? "a choice of" : "a name in"} ${field || "the root"} has invisible characters`;
    }
  }
  return undefined;
}

function hidesWords(keyword: string, value: unknown): boolean {
  if (typeof value !== "object" && keyword !== "const") return false;
  const holds = SCHEMA_KEYWORDS.get(keyword)?.holds;
  if (holds === "named-schemas") return isPlainObject(value) && Object.keys(value).some(hidesText);
  return (holds === "names" || keyword === "enum" || keyword === "const") && hidesData(value);
}

/** Counts the schemas for one position of an instance. A reference loop that never descends is endless. */
function checkExpansion(nodes: readonly SchemaNode[]): string | undefined {
  const sizes = new Array<number>(nodes.length).fill(0);
  const open = new Set<number>();
  for (let start = 0; start < nodes.length; start += 1) {
    const pending = [start];
    for (let index = pending.at(-1); index !== undefined; index = pending.at(-1)) {
      const { inPlace, field } = nodes[index]!;
      if (sizes[index] !== 0) {
        pending.pop();
      } else if (!open.has(index)) {
        open.add(index);
        const loops = inPlace.some((next) => open.has(next));
        if (loops) return `${field || "the root"} refers to itself without end`;
        pending.push(...inPlace.filter((next) => sizes[next] === 0));
      } else {
        open.delete(index);
        pending.pop();
        const size = inPlace.reduce((sum, next) => sum + sizes[next]!, 1);
        sizes[index] = size;
        if (size > MAX_EXPANSION) {
          return `the alternatives of ${field || "the root"} multiply to more than ${MAX_EXPANSION}`;
        }
      }
    }
  }
  return undefined;
}

const TEXT_CHARS = 16_384;

/**
 * Copies a schema without invisible content. Prose is cleaned and cut. Data that hides text, and overlong defaults and
 * examples, are left out: the tool knows its defaults. The schema must have passed `readSchema`, which bounds its depth
 * and refuses hidden text in names and choices.
 */
export function cleanSchema(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, CLEANER);
}

const CLEANER: SchemaMapper = {
  subschema: (part, _keyword, key) =>
    typeof key === "string" && hidesText(key) ? undefined : cleanPart(part),
  value: cleanValue,
};

/** Unknown keywords may hold schemas that references lead to, so their values are cleaned as schemas. */
function cleanPart(part: unknown): unknown {
  if (typeof part === "string") return toVisibleText(part, TEXT_CHARS);
  if (Array.isArray(part)) return part.map(cleanPart);
  return isPlainObject(part) ? mapSchema(part, CLEANER) : part;
}

function cleanValue(value: unknown, keyword: string, holds: KeywordHolds | undefined): unknown {
  if (holds === undefined) return hidesText(keyword) ? undefined : cleanPart(value);
  if (keyword === "examples" && Array.isArray(value)) {
    const shown = value.filter(isShown);
    return shown.length > 0 || value.length === 0 ? shown : undefined;
  }
  if (keyword === "default" || keyword === "example") return isShown(value) ? value : undefined;
  if (holds === "data" || holds === "names" || keyword === "pattern")
    return hidesData(value) ? undefined : value;
  return typeof value === "number" || typeof value === "boolean" ? value : cleanPart(value);
}

function isShown(value: unknown): boolean {
  if (typeof value === "string") return value.length <= TEXT_CHARS && !hidesText(value);
  if (typeof value !== "object" || value === null) return true;
  return JSON.stringify(value).length <= TEXT_CHARS && !hidesData(value);
}

/** Whether a text, or a name or text anywhere inside a value of bounded depth, has invisible characters. */
export function hidesData(value: unknown): boolean {
  if (typeof value === "string") return hidesText(value);
  if (Array.isArray(value)) return value.some(hidesData);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, part]) => hidesText(name) || hidesData(part));
}

/** The result of {@link copyJson}. */
type CopyOutcome =
  | { readonly ok: true; readonly copy: GraphSchema }
  | { readonly ok: false; readonly reason: string };

/**
 * Copies an outside JSON object, or says why it cannot. Reads each member once and only up to the limits, so it ends on
 * cyclic, shared, endless and very deep values.
 */
function copyJson(root: object): CopyOutcome {
  try {
    return copyWithin(root);
  } catch {
    return refusal("reading it fails");
  }
}

/** Sets members in their original order and fills them later. */
function copyWithin(root: object): CopyOutcome {
  if (Array.isArray(root)) return refusal("it is not an object");
  const rootCopy: GraphSchema = {};
  const pending: { source: object; copy: object; depth: number }[] = [
    { source: root, copy: rootCopy, depth: 1 },
  ];
  let bytesLeft = MAX_BYTES;
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    const { source, copy, depth } = item;
    const isList = Array.isArray(source);
    // Checked before listing keys: a sparse array can have billions of members.
    if (isList && source.length > bytesLeft) return tooLarge();
    for (const key of isList ? source.keys() : Object.keys(source)) {
      const member: unknown = Reflect.get(source, key);
      if (member === undefined && !isList) continue;
      const size = sizeOf(member);
      if (size === undefined) return refusal(`it contains a ${typeof member}`);
      bytesLeft -= size + (typeof key === "string" ? key.length + 4 : 1);
      if (bytesLeft < 0) return tooLarge();
      if (typeof member !== "object" || member === null) {
        setMember(copy, key, member ?? null);
        continue;
      }
      if (depth > MAX_JSON_DEPTH) return refusal(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
      const inner = Array.isArray(member) ? [] : {};
      setMember(copy, key, inner);
      pending.push({ source: member, copy: inner, depth: depth + 1 });
    }
  }
  return { ok: true, copy: rootCopy };
}

function tooLarge(): CopyOutcome {
  return refusal(`it is larger than ${MAX_BYTES / 1024} KB`);
}

function refusal(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

function sizeOf(value: unknown): number | undefined {
  if (typeof value === "object" && value !== null) return 2;
  if (value === null || value === undefined) return 4;
  if (typeof value === "string") return value.length + 2;
  if (typeof value === "number" || typeof value === "boolean") return String(value).length;
  return undefined;
}
