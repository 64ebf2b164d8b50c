// The things of the site as tools answer with them, and how they are looked up. What is not there is a problem.
import type { DatabaseSync } from "node:sqlite";
import { problem } from "keyhole";
import { all, one } from "./database.ts";
import type { Content } from "./templates.ts";

export interface Page {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Section {
  readonly id: string;
  readonly page_id: string;
  readonly template: string;
  readonly name: string;
  readonly position: number;
  readonly content: Content;
  /** Ids of the images in each image field. */
  readonly images: Readonly<Record<string, readonly string[]>>;
  readonly updated_at: string;
}

export interface Image {
  readonly id: string;
  readonly filename: string;
  readonly url: string;
  readonly alt: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly source: string | null;
  readonly created_at: string;
}

export type PostStatus = "draft" | "published" | "archived";

export interface Post {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly excerpt: string;
  readonly body: string;
  readonly author: string;
  readonly status: PostStatus;
  readonly created_at: string;
  readonly updated_at: string;
  readonly published_at: string | null;
}

export interface NavigationItem {
  readonly id: string;
  readonly label: string;
  readonly url: string;
  readonly position: number;
  readonly visible: boolean;
}

const IMAGE_COLUMNS = "id, filename, url, alt, description, tags, source, created_at";
const NAMED = 8;

export function getPage(database: DatabaseSync, reference: string): Page {
  const page = one<Page>(database, "SELECT * FROM pages WHERE ? IN (id, slug)", reference);
  return page ?? missing(database, "page", reference, "SELECT slug AS name FROM pages ORDER BY slug");
}

export function getSection(database: DatabaseSync, id: string): Section {
  const row = one<SectionRow>(database, "SELECT * FROM sections WHERE id = ?", id);
  return row
    ? toSection(database, row)
    : missing(database, "section", id, "SELECT id AS name FROM sections ORDER BY page_id, position");
}

export function sectionsOf(database: DatabaseSync, pageId: string): Section[] {
  const sql = "SELECT * FROM sections WHERE page_id = ? ORDER BY position";
  return all<SectionRow>(database, sql, pageId).map((row) => toSection(database, row));
}

export function getImage(database: DatabaseSync, reference: string): Image {
  const sql = `SELECT ${IMAGE_COLUMNS} FROM images WHERE ? IN (id, filename)`;
  const row = one<ImageRow>(database, sql, reference);
  return row
    ? toImage(row)
    : missing(database, "image", reference, "SELECT filename AS name FROM images ORDER BY filename");
}

export function imagesOf(database: DatabaseSync): Image[] {
  return all<ImageRow>(database, `SELECT ${IMAGE_COLUMNS} FROM images ORDER BY id`).map(toImage);
}

export function getPost(database: DatabaseSync, reference: string): Post {
  const post = one<Post>(database, "SELECT * FROM posts WHERE ? IN (id, slug)", reference);
  return post ?? missing(database, "post", reference, "SELECT slug AS name FROM posts ORDER BY slug");
}

export function navigationOf(database: DatabaseSync): NavigationItem[] {
  const rows = all<NavigationRow>(database, "SELECT * FROM navigation ORDER BY position");
  return rows.map((row) => ({ ...row, visible: row.visible === 1 }));
}

export function getNavigationItem(database: DatabaseSync, id: string): NavigationItem {
  const item = navigationOf(database).find((known) => known.id === id);
  return (
    item ?? missing(database, "navigation item", id, "SELECT id AS name FROM navigation ORDER BY position")
  );
}

/** A slug that may be given to a new thing. */
export function checkSlugFree(
  database: DatabaseSync,
  table: "pages" | "posts",
  slug: string,
  own?: string,
): void {
  const taken = one<{ id: string }>(database, `SELECT id FROM ${table} WHERE slug = ?`, slug);
  if (!taken || taken.id === own) return;
  throw problem("CONFLICT", { reason: `The slug ${slug} is taken by ${taken.id}.` }, { taken_by: taken.id });
}

/** `name` with the small letters, digits and hyphens that an address may have. */
export function toSlug(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return (
    plain
      .match(/[a-z0-9]+/g)
      ?.join("-")
      .slice(0, 80) || "untitled"
  );
}

/** The problem of a thing that is not there, with names of the same kind that are. */
export function missing(database: DatabaseSync, kind: string, reference: string, namesSql: string): never {
  const known = all<{ name: string }>(database, `${namesSql} LIMIT ${NAMED}`).map(({ name }) => name);
  throw problem("NOT_FOUND", { name: `${kind} ${reference}` }, { known });
}

type SectionRow = Omit<Section, "content" | "images"> & { readonly content: string };
type ImageRow = Omit<Image, "tags"> & { readonly tags: string };
type NavigationRow = Omit<NavigationItem, "visible"> & { readonly visible: number };

function toSection(database: DatabaseSync, row: SectionRow): Section {
  const sql = "SELECT field, image_id FROM section_images WHERE section_id = ? ORDER BY field, position";
  const held = all<{ field: string; image_id: string }>(database, sql, row.id);
  const images = [...Map.groupBy(held, ({ field }) => field)].map(([field, rows]) => [
    field,
    rows.map(({ image_id }) => image_id),
  ]);
  return { ...row, content: JSON.parse(row.content), images: Object.fromEntries(images) };
}

function toImage(row: ImageRow): Image {
  return { ...row, tags: row.tags.split(" ").filter((tag) => tag !== "") };
}
