import { isPlainObject } from "../util/plain-object.ts";
import { fieldPath } from "./field-path.ts";
import { resolvePointer, type Subschema, subschemas } from "./walk-schema.ts";

/** A schema that may be rewritten in place. */
export type GraphSchema = Record<string, unknown>;

/** One schema of a document, with its position and links. */
export interface SchemaNode {
  readonly schema: GraphSchema;
  /** The part of the params that it describes, such as `rows[].name`. */
  readonly field: string;
  readonly depth: number;
  readonly parent: number;
  /** Metered separately: it applies many times or is reached by reference. */
  guarded: boolean;
  /** Nodes that apply to the same instance, by applicator or reference. */
  readonly inPlace: number[];
}

export const MAX_SCHEMA_DEPTH = 32;
const MAX_SUBSCHEMAS = 2000;
const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"] as const;

/** Lists all schemas of a document and links those that apply to the same instance, or says why it is refused. */
export function buildSchemaGraph(
  root: GraphSchema,
):
  | { readonly ok: true; readonly nodes: readonly SchemaNode[] }
  | { readonly ok: false; readonly reason: string } {
  const graph: Graph = { root, nodes: [], indexOf: new Map(), anchors: new Map(), count: 0 };
  const reason = addTree(graph, root, "") ?? linkReferences(graph);
  return reason === undefined ? { ok: true, nodes: graph.nodes } : { ok: false, reason };
}

interface Graph {
  readonly root: GraphSchema;
  readonly nodes: SchemaNode[];
  readonly indexOf: Map<unknown, number>;
  readonly anchors: Map<string, GraphSchema>;
  count: number;
}

function addTree(graph: Graph, top: GraphSchema, field: string): string | undefined {
  const pending = [addNode(graph, top, { field, depth: 0, parent: -1, guarded: true })];
  for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
    const node = graph.nodes[index]!;
    for (const child of subschemas(node.schema)) {
      graph.count += 1;
      if (graph.count > MAX_SUBSCHEMAS) return `it has more than ${MAX_SUBSCHEMAS} subschemas`;
      if (typeof child.value === "boolean") continue;
      const where = joinField(node.field, stepOf(child));
      if (!isPlainObject(child.value)) return `${pointerOf(child)}${where && ` (${where})`} is not a schema`;
      const depth = node.depth + 1;
      if (depth > MAX_SCHEMA_DEPTH) return `its schemas nest deeper than ${MAX_SCHEMA_DEPTH} levels`;
      // A reference may have reached it before its holder.
      const existing = graph.indexOf.get(child.value);
      const facts = { field: where, depth, parent: index, guarded: child.row.repeated ?? false };
      const added = existing ?? addNode(graph, child.value, facts);
      if (child.row.inPlace) node.inPlace.push(added);
      if (existing === undefined) pending.push(added);
    }
  }
  return undefined;
}

function addNode(graph: Graph, schema: GraphSchema, facts: Omit<SchemaNode, "schema" | "inPlace">): number {
  const index = graph.nodes.push({ schema, ...facts, inPlace: [] }) - 1;
  graph.indexOf.set(schema, index);
  for (const keyword of ["$anchor", "$dynamicAnchor", "$id"]) {
    const name = schema[keyword];
    if (typeof name !== "string") continue;
    // Older drafts spell an anchor as an id of only a fragment.
    if (keyword !== "$id") graph.anchors.set(name, schema);
    else if (name.startsWith("#")) graph.anchors.set(name.slice(1), schema);
  }
  return index;
}

/** Adds targets outside the known keywords when a reference leads to them. */
function linkReferences(graph: Graph): string | undefined {
  for (let index = 0; index < graph.nodes.length; index += 1) {
    const node = graph.nodes[index]!;
    for (const keyword of REFERENCES) {
      const reference = Object.hasOwn(node.schema, keyword) ? node.schema[keyword] : undefined;
      if (reference === undefined) continue;
      if (typeof reference !== "string") return `${keyword} must be text`;
      if (!reference.startsWith("#")) return `${keyword} ${shown(reference)} leads outside the document`;
      if (isWithinEmbedded(graph, node))
        return `${keyword} ${shown(reference)} stands inside an embedded $id`;
      const target = findTarget(graph, reference.slice(1));
      if (typeof target === "boolean") continue;
      if (!isPlainObject(target)) return `${keyword} ${shown(reference)} leads nowhere`;
      const reason = graph.indexOf.has(target) ? undefined : addTree(graph, target, node.field);
      if (reason !== undefined) return reason;
      const targetIndex = graph.indexOf.get(target)!;
      graph.nodes[targetIndex]!.guarded = true;
      node.inPlace.push(targetIndex);
    }
  }
  return undefined;
}

function findTarget(graph: Graph, fragment: string): unknown {
  if (fragment !== "" && !fragment.startsWith("/")) return graph.anchors.get(fragment);
  return resolvePointer(graph.root, fragment);
}

/** Below a nested `$id`, references start from that schema, which is not supported. */
function isWithinEmbedded(graph: Graph, node: SchemaNode): boolean {
  for (let at = node; at.parent !== -1; at = graph.nodes[at.parent]!) {
    if (typeof at.schema.$id === "string" && !at.schema.$id.startsWith("#")) return true;
  }
  return false;
}

/** The path from a schema's field to a schema inside it: a name, `[]` for items, `*` for any name. */
function stepOf({ row, key }: Subschema): string {
  if (row.reaches !== undefined) return row.reaches === "items" ? "[]" : "*";
  return row.inPlace || typeof key !== "string" ? "" : fieldPath([key]);
}

function pointerOf({ keyword, key }: Subschema): string {
  return key === undefined ? keyword : `${keyword}/${key}`;
}

function joinField(base: string, step: string): string {
  if (step === "" || base === "" || step.startsWith("[")) return base + step;
  return `${base}.${step}`;
}

function shown(reference: string): string {
  return JSON.stringify(reference.slice(0, 80));
}
