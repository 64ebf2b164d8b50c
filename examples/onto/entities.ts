// Plain functions over the entities that know nothing of agents, as most code bases already have.
import type { DatabaseSync } from "node:sqlite";
import { problem } from "keyhole";
import { insert, nextId, type Onto } from "./database.ts";
import { KINDS, type Kind } from "./kinds.ts";

export interface Entity {
  readonly id: string;
  readonly kind: Kind;
  readonly project_id: string;
  readonly title: string;
  readonly description: string | null;
  readonly type_key: string;
  readonly state_key: string;
  readonly priority: number | null;
  readonly due_at: string | null;
  readonly impact: string | null;
  readonly probability: string | null;
  readonly content: string | null;
  readonly parent_id: string | null;
  readonly position: number | null;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** An entity as a list shows it: the identifying fields, without long texts. */
export type Line = Partial<Entity> & Pick<Entity, "id" | "title">;

export interface Filter {
  readonly kinds?: readonly Kind[] | undefined;
  readonly project_id?: string | undefined;
  readonly state_key?: string | undefined;
  readonly type_key?: string | undefined;
  readonly impact?: string | undefined;
  readonly limit: number;
}

const LINE = [
  "id",
  "title",
  "project_id",
  "type_key",
  "state_key",
  "priority",
  "due_at",
  "impact",
  "probability",
];
const EQUAL = ["project_id", "state_key", "type_key", "impact"] as const;

export function listEntities(database: DatabaseSync, filter: Filter): { total: number; found: Line[] } {
  return select(database, filter, "", [], "priority IS NULL, priority, due_at IS NULL, due_at, title, id");
}

/** Finds entities with every word of the search, title matches first. */
export function searchEntities(
  database: DatabaseSync,
  search: string,
  filter: Filter,
): { total: number; found: Line[] } {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 20);
  const text = "fold(title || ' ' || coalesce(description, '') || ' ' || coalesce(content, ''))";
  const everyWord = words.map(() => ` AND instr(${text}, ?)`).join("");
  const inTitle = words.map(() => "(instr(fold(title), ?) > 0)").join(" + ") || "0";
  return select(database, filter, everyWord, words, `${inTitle} DESC, title, id`, words);
}

export function getEntity(database: DatabaseSync, id: string, kind?: Kind, projectId?: string): Entity {
  const row = database.prepare("SELECT * FROM entities WHERE id = ?").get(id) as Entity | undefined;
  const inProject = projectId === undefined || row?.project_id === projectId;
  if (row && inProject && (kind === undefined || row.kind === kind)) return { ...row };
  const where = projectId === undefined ? "" : ` in ${projectId}`;
  throw problem("NOT_FOUND", { name: `${kind ?? "entity"} ${id}${where}` });
}

/** Returns an entity with the fields of its kind. */
export function toDetails(entity: Entity): Partial<Entity> {
  const { kind, parent_id, position, ...rest } = entity;
  const own = Object.entries(rest).filter(([field, value]) => value !== null || field in KINDS[kind].fields);
  return { ...Object.fromEntries(own), ...(kind === "document" && { parent_id, position }) };
}

export type NewEntity = Partial<Entity> & Pick<Entity, "title">;

export function createEntity({ database, now }: Onto, kind: Kind, fields: NewEntity): Entity {
  const id = nextId(database, KINDS[kind].prefix);
  const project_id = kind === "project" ? id : fields.project_id!;
  if (kind !== "project") getEntity(database, project_id, "project");
  const at = now().toISOString();
  insert(database, "entities", { ...fields, id, kind, project_id, created_at: at, updated_at: at });
  return getEntity(database, id);
}

type Changes = Record<string, { readonly from: unknown; readonly to: unknown }>;

/** Changes the given fields. Refuses if the entity has changed since the caller read it. */
export function updateEntity(
  onto: Onto,
  kind: Kind,
  id: string,
  fields: Readonly<Record<string, string | number | undefined>>,
  expectedVersion: number | undefined,
): { id: string; changes: Changes; version: number } {
  const entity = getEntity(onto.database, id, kind);
  if (expectedVersion !== undefined && expectedVersion !== entity.version) {
    const reason = `${id} is at version ${entity.version}, and the update was made for version ${expectedVersion}.`;
    throw problem("CONFLICT", { reason }, { current: toDetails(entity) });
  }
  const changes: Changes = {};
  for (const [field, to] of Object.entries(fields)) {
    const from = entity[field as keyof Entity];
    if (to !== undefined && to !== from) changes[field] = { from, to };
  }
  if (Object.keys(changes).length === 0) return { id, changes, version: entity.version };
  for (const [field, { to }] of Object.entries(changes)) {
    onto.database.prepare(`UPDATE entities SET ${field} = ? WHERE id = ?`).run(to as string | number, id);
  }
  touch(onto, id);
  return { id, changes, version: entity.version + 1 };
}

/** Marks an entity as changed. */
export function touch({ database, now }: Onto, id: string): void {
  database
    .prepare("UPDATE entities SET version = version + 1, updated_at = ? WHERE id = ?")
    .run(now().toISOString(), id);
}

function select(
  database: DatabaseSync,
  filter: Filter,
  condition: string,
  parameters: readonly string[],
  order: string,
  orderParameters: readonly string[] = [],
): { total: number; found: Line[] } {
  // An unknown project must not look like one without matches.
  if (filter.project_id !== undefined) getEntity(database, filter.project_id, "project");
  const kinds = filter.kinds ?? [];
  const equal = EQUAL.filter((column) => filter[column] !== undefined);
  const where = [
    kinds.length > 0 ? `kind IN (${kinds.map(() => "?").join(", ")})` : "1",
    ...equal.map((column) => `${column} = ?`),
  ].join(" AND ");
  const given = [...kinds, ...equal.map((column) => filter[column]!), ...parameters];
  const from = `FROM entities WHERE ${where}${condition}`;
  const total = Number(database.prepare(`SELECT count(*) AS n ${from}`).get(...given)?.n);
  const columns = kinds.length === 1 ? LINE : ["kind", ...LINE];
  const rows = database
    .prepare(`SELECT ${columns.join(", ")} ${from} ORDER BY ${order} LIMIT ?`)
    .all(...given, ...orderParameters, filter.limit);
  return { total, found: rows.map(withoutNulls) };
}

function withoutNulls(row: Record<string, unknown>): Line {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Line;
}
