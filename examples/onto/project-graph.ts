// The relations of a whole project at once.
import type { DatabaseSync } from "node:sqlite";
import { type Edge, edgesOfProject, linkEntities, unlinkEdge } from "./edges.ts";
import { getEntity, type Line, listEntities } from "./entities.ts";
import type { Relation } from "./kinds.ts";

export interface Graph {
  readonly nodes: readonly Line[];
  readonly edges: readonly Edge[];
}

const MOST_NODES = 1_000;

export function getGraph(database: DatabaseSync, projectId: string): Graph {
  getEntity(database, projectId, "project");
  const { found } = listEntities(database, { project_id: projectId, limit: MOST_NODES });
  const nodes = found
    .filter(({ id }) => id !== projectId)
    .map(({ id, kind, title, state_key }) => ({ id, kind, title, state_key }) as Line);
  return { nodes, edges: edgesOfProject(database, projectId) };
}

export interface Connections {
  readonly id: string;
  readonly connections: readonly { readonly rel: Relation; readonly to_id: string }[];
}

export interface Reorganized {
  readonly adds: readonly Edge[];
  readonly removes: readonly Edge[];
  readonly keeps: number;
}

/**
 * Adds the given connections, which start at each given node. `replace` removes the node's other connections,
 * `merge` keeps them. Other nodes do not change.
 */
export function reorganize(
  database: DatabaseSync,
  projectId: string,
  nodes: readonly Connections[],
  mode: "replace" | "merge",
): Reorganized {
  getEntity(database, projectId, "project");
  for (const { id } of nodes) getEntity(database, id, undefined, projectId);
  const wanted = new Set(
    nodes.flatMap(({ id, connections }) => connections.map(({ rel, to_id }) => keyOf(id, rel, to_id))),
  );
  const named = new Set(nodes.map(({ id }) => id));
  const there = edgesOfProject(database, projectId).filter(({ from_id }) => named.has(from_id));
  const others = there.filter(({ from_id, rel, to_id }) => !wanted.has(keyOf(from_id, rel, to_id)));

  // Remove first, so that reversing an edge does not close a cycle on the way.
  const removes = mode === "replace" ? others.map(({ id }) => unlinkEdge(database, id)) : [];
  const linked = nodes.flatMap(({ id, connections }) =>
    connections.map(({ rel, to_id }) => linkEntities(database, id, rel, to_id)),
  );
  const adds = linked.filter(({ created }) => created).map(({ edge }) => edge);
  return { adds, removes, keeps: there.length - removes.length };
}

function keyOf(from: string, rel: Relation, to: string): string {
  return JSON.stringify([from, rel, to]);
}
