import { storageTable } from "../../core/storage/sql-storage.ts";
import type { Database, StateTables } from "./database.ts";

/** Migration n takes the tables from version n to n + 1. Never change a released migration; add another. */
const MIGRATIONS: readonly ((tables: StateTables) => string)[] = [
  ({ counters, gateways, values, records }) => `
    create table ${counters} (name text primary key, value bigint not null, secret bytea);
    create table ${gateways} (id text primary key, seen_at timestamptz not null);
    ${storageTable(values)};
    create table ${records} (
      part text not null,
      key text not null,
      value text not null,
      primary key (part, key)
    );`,
];

/** Version of the tables after all migrations. */
export const TABLES_VERSION = MIGRATIONS.length;

/**
 * Brings the tables to the current version in one statement, and so in one transaction. Gateways that start together
 * wait for each other. Tables of a later version stay unchanged.
 */
export async function migrate(database: Database): Promise<void> {
  const { tables, query } = database;
  if ((await versionOf(database)) >= MIGRATIONS.length) return;
  const steps = MIGRATIONS.map(
    (migration, done) => `
  if version <= ${done} then
    ${migration(tables)}
  end if;`,
  );
  await query(`do $migrate$
declare
  version int;
begin
  perform pg_advisory_xact_lock(hashtextextended('${tables.versions}', 0));
  create table if not exists ${tables.versions} (version int primary key);
  version := (select coalesce(max(v.version), 0) from ${tables.versions} v);
  ${steps.join("")}
  insert into ${tables.versions} values (${MIGRATIONS.length}) on conflict do nothing;
end
$migrate$`);
}

/** Version of the tables; 0 if there are none. Read first: a role that may not create tables can use existing ones. */
export async function versionOf({ tables: { versions }, query }: Database): Promise<number> {
  const [found] = await query("select to_regclass($1) is not null as there", [versions]);
  if (!found?.there) return 0;
  const [row] = await query(`select coalesce(max(version), 0)::int as version from ${versions}`);
  return Number(row?.version);
}
