import { SCHEMA_KEYWORDS } from "../schema/schema-keywords.ts";
import { isFields } from "../util/fields.ts";
import { hidesText } from "../util/visible-text.ts";
import { hidesData } from "./clean-schema.ts";
import { copyJson } from "./copy-json.ts";
import { buildSchemaGraph, type SchemaNode, type SchemaObject } from "./schema-graph.ts";

const MAX_BYTES = 256 * 1024;
const MAX_ENUM_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
const MAX_SUBSCHEMAS = 2000;
const MAX_EXPANSION = 10_000;
/** A schema level takes two levels of JSON. The rest is for defaults and examples. */
const MAX_JSON_DEPTH = 4 * MAX_DEPTH;

/** The result of {@link readSchema}. */
export type ReadOutcome =
  | { readonly ok: true; readonly schema: SchemaObject; readonly nodes: readonly SchemaNode[] }
  | { readonly ok: false; readonly reason: string };

/** Says why a schema from outside is refused. Undefined if it is accepted. Safe and quick on hostile values. */
export function checkSchema(schema: unknown): string | undefined {
  const read = readSchema(schema);
  return read.ok ? undefined : read.reason;
}

/** Copies a schema that keeps every limit and lists its parts, or says why it is refused. */
export function readSchema(schema: unknown): ReadOutcome {
  if (typeof schema !== "object" || schema === null) return { ok: false, reason: "it is not an object" };
  const copied = copyJson(schema, { bytes: MAX_BYTES, depth: MAX_JSON_DEPTH });
  if (!copied.ok) return copied;
  const { copy } = copied;
  if (typeof copy !== "object" || copy === null || Array.isArray(copy)) {
    return { ok: false, reason: "it is not an object" };
  }
  const graph = buildSchemaGraph(copy, { depth: MAX_DEPTH, subschemas: MAX_SUBSCHEMAS });
  if (!graph.ok) return graph;
  const reason = checkEnums(graph.nodes) ?? checkHidden(graph.nodes) ?? checkExpansion(graph.nodes);
  return reason === undefined ? { ok: true, schema: copy, nodes: graph.nodes } : { ok: false, reason };
}

function checkEnums(nodes: readonly SchemaNode[]): string | undefined {
  for (const { schema, field } of nodes) {
    if (!Object.hasOwn(schema, "enum")) continue;
    if (JSON.stringify(schema.enum).length <= MAX_ENUM_BYTES) continue;
    return `the enum of ${field || "the root"} is larger than ${MAX_ENUM_BYTES / 1024} KB`;
  }
  return undefined;
}

/** Names and choices must be sent as they are, so they cannot be cleaned as prose is. */
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
  if (holds === "named-schemas") return isFields(value) && Object.keys(value).some(hidesText);
  return (holds === "names" || keyword === "enum" || keyword === "const") && hidesData(value);
}

/**
 * Counts the schemas that apply to one place of an instance once references are followed. A reference loop that
 * never descends into the instance is endless.
 */
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
