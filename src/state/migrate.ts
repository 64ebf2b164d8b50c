import type { Database, StateTables } from "./database.ts";

/** Migration n takes the tables from version n to n + 1. Never change one that was released; add another. */
const MIGRATIONS: readonly ((tables: StateTables) => string)[] = [
  ({ counters, gateways, sessions, results, keys, approvals, records, learning, audit, chains }) => `
    create table ${counters} (name text primary key, value bigint not null, secret bytea);
    create table ${gateways} (id text primary key, seen_at timestamptz not null);
    create table ${sessions} (
      handle text primary key,
      principal text not null,
      used_at timestamptz not null,
      revision bigint not null,
      memory text not null
    );
    create index on ${sessions} (principal, used_at);
    create index on ${sessions} (used_at);
    create table ${results} (
      handle text primary key,
      principal text not null,
      used_at timestamptz not null,
      bytes bigint not null,
      value text not null
    );
    create index on ${results} (principal, used_at, bytes);
    create index on ${results} (used_at);
    create table ${keys} (
      id text primary key,
      principal text not null,
      hash text not null,
      gateway text not null,
      claim text not null,
      bytes bigint not null,
      outcome text,
      expires_at timestamptz not null
    );
    create index on ${keys} (principal, expires_at, bytes);
    create index on ${keys} (expires_at, bytes);
    create table ${approvals} (
      nonce text not null,
      principal text not null,
      expires_at timestamptz not null,
      primary key (principal, nonce)
    );
    create index on ${approvals} (principal, expires_at);
    create index on ${approvals} (expires_at);
    create table ${records} (
      part text not null,
      key text not null,
      value text not null,
      primary key (part, key)
    );
    create table ${learning} (id bigint primary key, gateway text not null, event text not null);
    create table ${chains} (
      chain int generated always as identity primary key,
      gateway text not null,
      seq bigint not null,
      hash text not null,
      kept_from bigint not null
    );
    create table ${audit} (
      chain int not null,
      seq bigint not null,
      line text not null,
      primary key (chain, seq)
    );`,
  // Stored results say from now on what they came from.
  ({ results }) => `delete from ${results};`,
];

/**
 * Brings the tables to the current version, in one statement and so in one transaction. Gateways that start together
 * wait for each other. Tables of a later version stay as they are.
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

/** Asked first: a role that may not create tables can use those that exist. */
async function versionOf({ tables: { versions }, query }: Database): Promise<number> {
  const [found] = await query("select to_regclass($1) is not null as there", [versions]);
  if (!found?.there) return 0;
  const [row] = await query(`select coalesce(max(version), 0)::int as version from ${versions}`);
  return Number(row?.version);
}
