import type { DatabaseSync } from "node:sqlite";
import { run } from "../database.ts";
import { toSlug } from "../records.ts";
import { IMAGES } from "./images.ts";
import { ENTRIES, NAVIGATION, PAGES, SECTIONS } from "./pages.ts";
import { POSTS } from "./posts.ts";

const MADE_AT = "2026-01-05T09:00:00.000Z";

/** Fills empty tables with the studio's site, always the same. */
export function fillSite(database: DatabaseSync): void {
  for (const [index, [name, alt, description, tags]] of IMAGES.entries()) {
    const id = `img_${String(index + 1).padStart(3, "0")}`;
    const sql = "INSERT INTO images VALUES (?, ?, ?, ?, ?, ?, 'studio', NULL, ?)";
    run(database, sql, id, `${name}.jpg`, `/uploads/images/${name}.jpg`, alt, description, tags, MADE_AT);
  }
  for (const [slug, name, description] of PAGES) {
    const sql = "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)";
    run(database, sql, `page_${slug}`, slug, name, description, MADE_AT, MADE_AT);
  }
  for (const [page, sections] of Map.groupBy(SECTIONS, ([slug]) => slug)) {
    for (const [position, section] of sections.entries()) addSection(database, page, position, section);
  }
  for (const [slug, title, excerpt, body, author, status, day] of POSTS) {
    const at = `${day}T08:00:00.000Z`;
    const published = status === "draft" ? null : at;
    const sql = "INSERT INTO posts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    run(database, sql, `post_${slug}`, slug, title, excerpt, body, author, status, at, at, published);
  }
  for (const [position, [id, label, url, visible]] of NAVIGATION.entries()) {
    run(database, "INSERT INTO navigation VALUES (?, ?, ?, ?, ?)", id, label, url, position, visible);
  }
  for (const [position, [collection, slug, title, summary, content]] of ENTRIES.entries()) {
    const id = `entry_${slug}`;
    const sql = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)";
    run(database, sql, id, collection, slug, title, summary, JSON.stringify(content), position);
  }
}

function addSection(
  database: DatabaseSync,
  page: string,
  position: number,
  [, template, name, content, images = {}]: (typeof SECTIONS)[number],
): void {
  const id = `sec_${toSlug(name)}`;
  const sql = "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)";
  run(database, sql, id, `page_${page}`, template, name, position, JSON.stringify(content), MADE_AT);
  for (const [field, ids] of Object.entries(images)) {
    for (const [place, imageId] of ids.entries()) {
      run(database, "INSERT INTO section_images VALUES (?, ?, ?, ?)", id, field, place, imageId);
    }
  }
}
