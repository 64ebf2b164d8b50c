import { randomUUID } from "node:crypto";
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { problem } from "../../base/problems/problem.ts";
import { openDatabase } from "./open-database.ts";
import { toStoredText } from "./postgres-client.ts";
import type { OpenStorage, Storage, StorageOptions } from "./storage.ts";

export type SqlRow = Readonly<Record<string, unknown>>;

/** A database that runs single statements, each in a transaction of its own. */
export interface SqlDatabase {
  /** Runs SQL that SQLite and PostgreSQL both know, with parameters `$1`, `$2` and so on. */
  query(sql: string, params?: unknown[]): Promise<readonly SqlRow[]>;
  /** SQL for the milliseconds since 1970, by the clock of the database. */
  readonly now: string;
}

/** Creates the table of {@link createSqlStorage}. */
export function storageTable(table: string): string {
  return `create table ${table} (
    kind text not null,
    owner text not null,
    key text not null,
    position bigint not null,
    used_at bigint not null,
    bytes bigint not null,
    revision text not null,
    value text not null,
    primary key (kind, owner, key, position)
  )`;
}

interface StoredItem<V> {
  readonly revision: string;
  readonly value: V;
}

/** Values are marked as used at most once in this part of their lifetime. */
const RENEWALS = 100;
/** A sweep reads all values of its kind, so it runs after this part of an owner's bound was added. */
const SWEEP_PART = 16;
const SWEEP_EVERY = 256;
const COUNT_MS = 5_000;
const FREE_PART = 4;
const TRIES = 100;
const PAUSE_MS = 20;

/** Keeps values of all kinds in one table, which several processes may share. See {@link Storage}. */
export function createSqlDriver(database: SqlDatabase, table: string): OpenStorage {
  return (kind, options) => createSqlStorage(database, table, kind, options);
}

const SQLITE_TABLE = "stored_values";
const SQLITE_NOW = "cast(round(unixepoch('subsec') * 1000) as integer)";

/**
 * Keeps values in a SQLite file, or in `:memory:`. A value is written before the promise of its change resolves. `damage`
 * is set if the file was damaged: it was renamed, and the storage starts empty.
 */
export function openSqliteStorage(path: string) {
  const { database, damage } = openDatabase(path, "storage", [storageTable(SQLITE_TABLE)]);
  const statements = new Map<string, StatementSync>();

  async function query(sql: string, params: unknown[] = []) {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    const named = params.map((value, at) => [`$${at + 1}`, value as SQLInputValue]);
    return statement.all(Object.fromEntries(named));
  }

  return {
    open: createSqlDriver({ query, now: SQLITE_NOW }, SQLITE_TABLE),
    damage,
    close: () => database.close(),
  };
}

function createSqlStorage<V>(
  { query, now }: SqlDatabase,
  table: string,
  kind: string,
  options: StorageOptions<V>,
): Storage<V> {
  const { all, perOwner, ttlMs, lasting = false, overhead = 0, cached = 0 } = options;
  const { toText = JSON.stringify, fromText = JSON.parse } = options;
  const cache = cached > 0 ? new LRUCache<string, StoredItem<V>>({ max: cached }) : undefined;
  const ofItem = "kind = $1 and owner = $2 and key = $3";
  const isLive = `used_at >= ${now} - ${Math.floor(ttlMs)}`;
  /** The last change of each value by this process: the next one waits for it instead of losing against it. */
  const changing = new Map<string, Promise<unknown>>();
  const added = { entries: Number.POSITIVE_INFINITY, size: 0 };
  const total = { entries: 0, size: 0, countedAt: Number.NEGATIVE_INFINITY };
  const sweepEvery = Math.ceil(Math.min(SWEEP_EVERY, perOwner.entries / SWEEP_PART));

  const idOf = (key: string, owner: string) => [kind, toStoredText(owner), toStoredText(key)];

  /**
   * Forgets what is expired or over its bound, after much was added. Leaves as much room as may be added until the
   * next time.
   */
  async function noteAdded(entries: number, size: number): Promise<void> {
    const spare = { entries: sweepEvery, size: Math.floor(perOwner.size / SWEEP_PART) };
    added.entries += entries;
    added.size += size;
    if (added.entries <= spare.entries && added.size <= spare.size) return;
    added.entries = 0;
    added.size = 0;
    await query(
      `with held as (
         select owner, key, sum(bytes) as bytes, max(used_at) as used_at from ${table}
         where kind = $1 group by owner, key having max(used_at) >= ${now} - ${Math.floor(ttlMs)}
       ), ranked as (
         select owner, key, bytes, row_number() over w as place, sum(bytes) over w as upto from held
         window w as (partition by owner order by used_at desc, key)
       ), ordered as (
         select owner, key, place, upto, row_number() over (order by place, owner) as entries,
           sum(bytes) over (order by upto, owner, key) as size
         from ranked
       )
       delete from ${table} where kind = $1 and (owner, key) not in (
         select owner, key from ordered
         where place <= $2 and (upto <= $3 or place = 1) and entries <= $4 and size <= $5)`,
      [
        kind,
        Math.max(1, perOwner.entries - spare.entries),
        perOwner.size - spare.size,
        Math.max(1, all.entries - spare.entries),
        all.size - spare.size,
      ],
    );
  }

  /** Counting all values takes long, so it is done now and then. */
  async function countAll(): Promise<void> {
    if (performance.now() - total.countedAt < COUNT_MS) return;
    total.countedAt = performance.now();
    await query(`delete from ${table} where kind = $1 and not ${isLive}`, [kind]);
    const [row] = await query(
      `select count(*) as entries, coalesce(sum(bytes), 0) as size from ${table} where kind = $1`,
      [kind],
    );
    total.entries = Number(row?.entries);
    total.size = Number(row?.size);
  }

  async function read(key: string, owner: string): Promise<StoredItem<V> | undefined> {
    const id = idOf(key, owner);
    const last = cache?.get(nameOf(id));
    const [row] = await query(
      `select revision, case when revision = $4 then null else value end as value, ${now} - used_at as age
       from ${table} where ${ofItem} and position = 0 and ${isLive}`,
      [...id, last?.revision ?? ""],
    );
    const item = row && (last?.revision === row.revision ? last : toItem(row, fromText));
    if (!item) return undefined;
    if (!lasting && Number(row.age) > ttlMs / RENEWALS)
      await query(`update ${table} set used_at = ${now} where ${ofItem} and position = 0`, id);
    cache?.set(nameOf(id), item);
    return item;
  }

  /** Writes a change only over the revision that it was made from. */
  async function change(key: string, owner: string, make: (value: V) => V | undefined) {
    const id = idOf(key, owner);
    let before = cache?.get(nameOf(id)) ?? (await read(key, owner));
    for (let tries = 1; before; tries += 1) {
      if (tries > TRIES) throw problem("STATE_UNREACHABLE");
      const value = make(before.value);
      if (await write(id, before.revision, value)) return value;
      if (tries > 1) await setTimeout(Math.random() * PAUSE_MS);
      before = await read(key, owner);
    }
    return undefined;
  }

  async function write(id: string[], before: string, value: V | undefined): Promise<boolean> {
    const where = `${ofItem} and position = 0 and revision = $4 and ${isLive}`;
    if (value === undefined) {
      cache?.delete(nameOf(id));
      return (await query(`delete from ${table} where ${where} returning key`, [...id, before])).length > 0;
    }
    const revision = randomUUID();
    const text = toText(value);
    const rows = await query(
      `update ${table} set value = $5, revision = $6, bytes = $7, used_at = ${now} where ${where} returning revision`,
      [...id, before, text, revision, overhead + Buffer.byteLength(text)],
    );
    return remember(id, revision, value, rows);
  }

  async function putFirst(key: string, owner: string, values: readonly V[]): Promise<boolean> {
    const texts = values.map((value) => toText(value));
    const sizes = texts.map((text) => overhead + Buffer.byteLength(text));
    const size = sizes.reduce((sum, bytes) => sum + bytes, 0);
    if (size > perOwner.size) return false;
    const id = idOf(key, owner);
    const revision = randomUUID();
    let rows: readonly SqlRow[] = [];
    // The first value last: without it, a list that was written in part does not count.
    for (const [position, text] of [...texts.entries()].reverse()) {
      rows = await query(
        `insert into ${table} values ($1, $2, $3, $4, ${now}, $5, $6, $7)
         on conflict (kind, owner, key, position) do update set used_at = excluded.used_at returning revision`,
        [...id, position, sizes[position], revision, text],
      );
    }
    const isNew = remember(id, revision, values[0]!, rows);
    if (isNew) await noteAdded(1, size);
    return isNew;
  }

  async function addLasting(key: string, owner: string, value: V): Promise<boolean> {
    await countAll();
    const id = idOf(key, owner);
    const text = toText(value);
    const revision = randomUUID();
    const rows = await query(
      `insert into ${table} as known
         select $1, $2, $3, 0, ${now}, cast($4 as bigint), $5, $6 where (
           select count(*) < $7 and coalesce(sum(bytes), 0) + $4 <= $8 from ${table}
           where kind = $1 and owner = $2 and ${isLive})
       on conflict (kind, owner, key, position) do update
         set used_at = excluded.used_at, bytes = excluded.bytes, revision = excluded.revision, value = excluded.value
         where not known.${isLive}
       returning revision`,
      [
        ...id,
        ...[overhead + Buffer.byteLength(text), revision, text],
        Math.floor(Math.min(perOwner.entries, (all.entries - total.entries) / FREE_PART)),
        Math.floor(Math.min(perOwner.size, (all.size - total.size) / FREE_PART)),
      ],
    );
    return remember(id, revision, value, rows);
  }

  /** Whether the rows have the new revision. */
  function remember(id: string[], revision: string, value: V, rows: readonly SqlRow[]): boolean {
    if (rows[0]?.revision !== revision) return false;
    cache?.set(nameOf(id), { revision, value });
    return true;
  }

  return {
    get: async (key, owner) => (await read(key, owner))?.value,
    has: async (key, owner) => {
      const rows = await query(`select 1 from ${table} where ${ofItem} and ${isLive}`, idOf(key, owner));
      return rows.length > 0;
    },
    put: async (key, owner, ...values) =>
      lasting ? addLasting(key, owner, values[0]!) : putFirst(key, owner, values),
    update: (key, owner, make) => {
      const id = nameOf(idOf(key, owner));
      const before = changing.get(id) ?? Promise.resolve();
      const changed = before.catch(() => {}).then(() => change(key, owner, make));
      changing.set(id, changed);
      const forget = () => {
        if (changing.get(id) === changed) changing.delete(id);
      };
      changed.then(forget, forget);
      return changed;
    },
    append: async (key, owner, position, value) => {
      const text = toText(value);
      const bytes = Buffer.byteLength(text);
      const rows = await query(
        `insert into ${table} select $1, $2, $3, cast($4 as bigint), ${now}, cast($5 as bigint), $6, $7 where (
           select count(*) = $4 and max(used_at) >= ${now} - ${Math.floor(ttlMs)} from ${table} where ${ofItem})
         on conflict do nothing returning key`,
        [...idOf(key, owner), position, bytes, randomUUID(), text],
      );
      if (rows.length > 0) await noteAdded(0, bytes);
      return rows.length > 0;
    },
    list: async (key, owner) => {
      const rows = await query(
        `select position, value, ${now} - used_at as age from ${table} where ${ofItem} order by position`,
        idOf(key, owner),
      );
      const isWhole = Number(rows[0]?.position) === 0;
      if (!isWhole || rows.every(({ age }) => Number(age) > ttlMs)) return [];
      return rows.map((row) => fromText(String(row.value)));
    },
  };
}

/** One text for a kind, an owner and a key. */
function nameOf([kind = "", owner = "", key = ""]: readonly string[]): string {
  return `${kind} ${owner.length} ${owner}${key}`;
}

/** Undefined if the text cannot be read. */
function toItem<V>({ revision, value }: SqlRow, fromText: (text: string) => V): StoredItem<V> | undefined {
  try {
    return { revision: String(revision), value: fromText(String(value)) };
  } catch {
    return undefined;
  }
}
