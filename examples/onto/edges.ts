// Relations between entities: the allowed kinds and the existing edges.
import type { DatabaseSync } from "node:sqlite";
import { problem } from "keyhole";
import { insert, nextId } from "./database.ts";
import { type Entity, getEntity } from "./entities.ts";
import { type Relation, relationRule } from "./kinds.ts";

export interface Edge {
  readonly id: string;
  readonly from_id: string;
  readonly rel: Relation;
  readonly to_id: string;
}

/** Relates two entities of one project. Returns the existing edge if there is one. */
export function linkEntities(
  database: DatabaseSync,
  fromId: string,
  rel: Relation,
  toId: string,
): { edge: Edge; created: boolean } {
  const known = database
    .prepare("SELECT * FROM edges WHERE from_id = ? AND rel = ? AND to_id = ?")
    .get(fromId, rel, toId);
  if (known) return { edge: { ...known } as unknown as Edge, created: false };
  checkLink(getEntity(database, fromId), rel, getEntity(database, toId));
  checkAcyclic(database, fromId, rel, toId);
  const edge: Edge = { id: nextId(database, "edge"), from_id: fromId, rel, to_id: toId };
  insert(database, "edges", { ...edge });
  return { edge, created: true };
}

export function unlinkEdge(database: DatabaseSync, id: string): Edge {
  const row = database.prepare("DELETE FROM edges WHERE id = ? RETURNING *").get(id);
  if (!row) throw problem("NOT_FOUND", { name: `edge ${id}` });
  return { ...row } as unknown as Edge;
}

/** Returns the edges that begin or end at an entity. */
export function edgesOf(database: DatabaseSync, id: string): Edge[] {
  const rows = database.prepare("SELECT * FROM edges WHERE from_id = ? OR to_id = ? ORDER BY id").all(id, id);
  return rows as unknown as Edge[];
}

export function edgesOfProject(database: DatabaseSync, projectId: string): Edge[] {
  const sql = `SELECT edges.* FROM edges JOIN entities ON entities.id = from_id WHERE project_id = ? ORDER BY edges.id`;
  return database.prepare(sql).all(projectId) as unknown as Edge[];
}

function checkLink(from: Entity, rel: Relation, to: Entity): void {
  const rule = relationRule(rel);
  const errors = [
    !rule.from.includes(from.kind) && {
      field: "from_id",
      message: `${rel} starts at ${rule.from.join(", ")}; ${from.id} is a ${from.kind}`,
    },
    !rule.to.includes(to.kind) && {
      field: "to_id",
      message: `${rel} leads to ${rule.to.join(", ")}; ${to.id} is a ${to.kind}`,
    },
    from.project_id !== to.project_id && {
      field: "to_id",
      message: `${to.id} belongs to another project than ${from.id}`,
    },
    from.id === to.id && { field: "to_id", message: "an entity is not related to itself" },
  ].filter((error) => error !== false);
  if (errors.length > 0)
    throw problem("INVALID_PARAMS", { name: `${from.id} ${rel} ${to.id}` }, { fieldErrors: errors });
}

/** Walks from the end of the new edge. Reaching its beginning would close a cycle. */
function checkAcyclic(database: DatabaseSync, fromId: string, rel: Relation, toId: string): void {
  if (!relationRule(rel).acyclic) return;
  const reached = database
    .prepare(
      `WITH RECURSIVE reached (id) AS (
         SELECT ? UNION SELECT to_id FROM edges JOIN reached ON from_id = reached.id WHERE rel = ?
       ) SELECT 1 FROM reached WHERE id = ?`,
    )
    .get(toId, rel, fromId);
  if (reached) {
    throw problem("CONFLICT", {
      reason: `${toId} already leads to ${fromId} by ${rel}: that would be a circle.`,
    });
  }
}
