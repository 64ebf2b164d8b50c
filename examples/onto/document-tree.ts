// The documents of a project as a tree. A document with others below it is a folder.
import type { DatabaseSync } from "node:sqlite";
import { problem } from "keyhole";
import type { Onto } from "./database.ts";
import { createEntity, type Entity, getEntity, type NewEntity, touch } from "./entities.ts";

export interface TreeNode {
  readonly id: string;
  readonly title?: string;
  readonly state_key?: string;
  readonly children: readonly TreeNode[];
}

export function getTree(database: DatabaseSync, projectId: string, withDocuments: boolean): TreeNode[] {
  getEntity(database, projectId, "project");
  return below(database, projectId, withDocuments, null);
}

/** Returns the path from the top of the tree to the document, inclusive. */
export function getPath(database: DatabaseSync, id: string): Entity[] {
  const document = getEntity(database, id, "document");
  return document.parent_id === null ? [document] : [...getPath(database, document.parent_id), document];
}

/** Returns a document and everything below it. */
export function subtreeOf(database: DatabaseSync, document: Entity): Entity[] {
  const children = childrenOf(database, document.project_id, document.id);
  return [document, ...children.flatMap((child) => subtreeOf(database, child))];
}

export function createDocument(onto: Onto, { parent_id = null, ...fields }: NewEntity): Entity {
  const { database } = onto;
  if (parent_id !== null) getEntity(database, parent_id, "document", fields.project_id);
  const position = nextPosition(database, fields.project_id!, parent_id);
  return createEntity(onto, "document", { ...fields, parent_id, position });
}

/** Moves a document with its subtree to the end of another parent or of the top. */
export function moveDocument(onto: Onto, projectId: string, id: string, newParentId: string | null): Entity {
  const { database } = onto;
  const document = getEntity(database, id, "document", projectId);
  if (newParentId !== null) {
    getEntity(database, newParentId, "document", projectId);
    if (subtreeOf(database, document).some((inside) => inside.id === newParentId)) {
      throw problem("CONFLICT", { reason: `${newParentId} is ${id} itself or lies below it.` });
    }
  }
  database
    .prepare("UPDATE entities SET parent_id = ?, position = ? WHERE id = ?")
    .run(newParentId, nextPosition(database, projectId, newParentId), id);
  touch(onto, id);
  return getEntity(database, id);
}

function childrenOf(database: DatabaseSync, projectId: string, parentId: string | null): Entity[] {
  return database
    .prepare(
      `SELECT * FROM entities WHERE kind = 'document' AND project_id = ? AND parent_id IS ? ORDER BY position`,
    )
    .all(projectId, parentId) as unknown as Entity[];
}

function below(
  database: DatabaseSync,
  projectId: string,
  withDocuments: boolean,
  parentId: string | null,
): TreeNode[] {
  return childrenOf(database, projectId, parentId).map(({ id, title, state_key }) => ({
    id,
    ...(withDocuments && { title, state_key }),
    children: below(database, projectId, withDocuments, id),
  }));
}

function nextPosition(database: DatabaseSync, projectId: string, parentId: string | null): number {
  return (childrenOf(database, projectId, parentId).at(-1)?.position ?? -1) + 1;
}
