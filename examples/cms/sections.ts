// Adds and removes sections, for the tools of pages and of sections.
import type { DatabaseSync } from "node:sqlite";
import { all, nextId, one, run } from "./database.ts";
import { getSection, type Section } from "./records.ts";
import { type Content, checkContent, templateOf } from "./templates.ts";

export interface NewSection {
  readonly template: string;
  readonly name: string;
  readonly content: Content;
  /** Place on the page, from 0. Default: at the end. */
  readonly position?: number | undefined;
}

export function insertSection(
  database: DatabaseSync,
  pageId: string,
  { template, name, content, position }: NewSection,
  at: string,
): Section {
  checkContent(templateOf(template), content, true);
  const { count } = one<{ count: number }>(
    database,
    "SELECT count(*) AS count FROM sections WHERE page_id = ?",
    pageId,
  )!;
  const place = Math.min(position ?? count, count);
  run(
    database,
    "UPDATE sections SET position = position + 1 WHERE page_id = ? AND position >= ?",
    pageId,
    place,
  );
  const id = nextId(database, "sec");
  const sql = "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)";
  run(database, sql, id, pageId, template, name, place, JSON.stringify(content), at);
  return getSection(database, id);
}

/** Deletes sections. The others keep their order without gaps. */
export function deleteSections(database: DatabaseSync, pageId: string, ids: readonly string[]): void {
  for (const id of ids) run(database, "DELETE FROM sections WHERE id = ?", id);
  const left = all<{ id: string }>(
    database,
    "SELECT id FROM sections WHERE page_id = ? ORDER BY position",
    pageId,
  );
  for (const [place, { id }] of left.entries()) {
    run(database, "UPDATE sections SET position = ? WHERE id = ?", place, id);
  }
}
