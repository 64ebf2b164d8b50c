// Plain functions over the database, without a word about agents: what most code bases already have.
import type { DatabaseSync } from "node:sqlite";
import { problem } from "keyhole";

export interface Document {
  readonly id: string;
  readonly project_id: string;
  readonly parent_id: string | null;
  readonly position: number;
  readonly title: string;
  readonly state_key: string;
}

export interface TreeNode {
  readonly id: string;
  readonly title?: string;
  readonly state_key?: string;
  readonly children: readonly TreeNode[];
}

export function searchDocuments(database: DatabaseSync, search: string, limit: number): Document[] {
  const sql = "SELECT * FROM documents WHERE instr(lower(title), lower(?)) ORDER BY title LIMIT ?";
  return database.prepare(sql).all(search, limit) as unknown as Document[];
}

export function getDocument(database: DatabaseSync, id: string, projectId?: string): Document {
  const row = database.prepare("SELECT * FROM documents WHERE id = ?").get(id) as Document | undefined;
  if (!row || (projectId !== undefined && row.project_id !== projectId)) {
    throw problem("NOT_FOUND", { name: `document ${id}` });
  }
  return row;
}

export function childrenOf(database: DatabaseSync, projectId: string, parentId: string | null): Document[] {
  const sql = "SELECT * FROM documents WHERE project_id = ? AND parent_id IS ? ORDER BY position";
  return database.prepare(sql).all(projectId, parentId) as unknown as Document[];
}

export function getTree(
  database: DatabaseSync,
  projectId: string,
  withDocuments: boolean,
  parentId: string | null = null,
): TreeNode[] {
  return childrenOf(database, projectId, parentId).map(({ id, title, state_key }) => ({
    id,
    ...(withDocuments && { title, state_key }),
    children: getTree(database, projectId, withDocuments, id),
  }));
}

/** Puts a document, with all that is below it, last under another parent. */
export function moveDocument(
  database: DatabaseSync,
  projectId: string,
  id: string,
  newParentId: string,
): Document {
  const document = getDocument(database, id, projectId);
  getDocument(database, newParentId, projectId);
  if (subtreeIds(database, document).includes(newParentId)) {
    throw problem("CONFLICT", { reason: `${newParentId} is ${id} itself or lies below it.` });
  }
  const position = (childrenOf(database, projectId, newParentId).at(-1)?.position ?? -1) + 1;
  const sql = "UPDATE documents SET parent_id = ?, position = ? WHERE id = ?";
  database.prepare(sql).run(newParentId, position, id);
  return { ...document, parent_id: newParentId, position };
}

/** A document and everything below it. */
export function subtreeIds(database: DatabaseSync, { id, project_id }: Document): string[] {
  return [id, ...childrenOf(database, project_id, id).flatMap((child) => subtreeIds(database, child))];
}

export function createTask(
  database: DatabaseSync,
  task: { project_id: string; title: string; priority: number },
): { id: number } {
  const sql = "INSERT INTO tasks (project_id, title, priority) VALUES (?, ?, ?)";
  const { lastInsertRowid } = database.prepare(sql).run(task.project_id, task.title, task.priority);
  return { id: Number(lastInsertRowid) };
}
