import { randomUUID } from "node:crypto";
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { problem } from "../../base/problems/problem.ts";
import {
  type Bounds,
  type OpenStorage,
  type Storage,
  type StorageOptions,
  UNBOUNDED,
} from "../../base/util/storage.ts";
import { createFairCache, roomOfOwner } from "./fair-cache.ts";
import { openDatabase } from "./open-database.ts";
import { toStoredText } from "./postgres-client.ts";

export type SqlRow = Readonly<Record<string, unknown>>;

/** A database that runs single statements, each in its own transaction. */
export interface SqlDatabase {
  /** Runs SQL common to SQLite and PostgreSQL, with parameters `$1`, `$2` and so on. */
  query(sql: string, params?: unknown[]): Promise<readonly SqlRow[]>;
  /** SQL for milliseconds since 1970 on the clock of the database. */
  readonly now: string;
  /** SQL for the pairs of texts in a JSON array, parameter `$2`. */
  readonly pairs: string;
}

/** Creates the table of {@link createSqlDriver}. */
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

/** A use is recorded at most once in this fraction of a value's lifetime. */
const RENEWALS = 100;
/**
 * A sweep reads the names of all values of its kind, so it runs only after this fraction of an owner's limit was added.
 */
const SWEEP_PART = 16;
const SWEEP_EVERY = 256;
const COUNT_MS = 5_000;
const TRIES = 100;
const PAUSE_MS = 20;
const OF_ITEM = "kind = $1 and owner = $2 and key = $3";

/** Stores values of all kinds in one table, which several processes may share. See {@link Storage}. */
export function createSqlDriver(database: SqlDatabase, table: string): OpenStorage {
  return (kind, options) => new SqlStorage(database, table, kind, options);
}

const SQLITE_TABLE = "stored_values";
const SQLITE_NOW = "cast(round(unixepoch('subsec') * 1000) as integer)";
const SQLITE_PAIRS = "select value ->> 0, value ->> 1 from json_each($2)";

/**
 * Stores values in a SQLite file or in `:memory:`, opened on first use. A change resolves after it was written.
 * `damage` is set if the file was damaged: it was renamed, and the storage starts empty.
 */
export function openSqliteStorage(path: string) {
  let file: ReturnType<typeof openDatabase> | undefined;
  const statements = new Map<string, StatementSync>();

  function opened() {
    file ??= openDatabase(path, "storage", [storageTable(SQLITE_TABLE)]);
    return file;
  }

  async function query(sql: string, params: unknown[] = []) {
    const statement = statements.get(sql) ?? opened().database.prepare(sql);
    statements.set(sql, statement);
    const named = params.map((value, at) => [`$${at + 1}`, value as SQLInputValue]);
    return statement.all(Object.fromEntries(named));
  }

  return {
    open: createSqlDriver({ query, now: SQLITE_NOW, pairs: SQLITE_PAIRS }, SQLITE_TABLE),
    get damage() {
      return opened().damage;
    },
    /** The next use opens the file again. */
    close: () => {
      file?.database.close();
      file = undefined;
      statements.clear();
    },
  };
}

/** The values of one kind, in the table of all kinds. */
class SqlStorage<V> implements Storage<V> {
  private readonly database: SqlDatabase;
  private readonly table: string;
  private readonly kind: string;
  private readonly options: StorageOptions<V>;
  private readonly isLive: string;
  private readonly cache: LRUCache<string, StoredItem<V>> | undefined;
  /** The last change of each value in this process: the next one waits for it instead of losing a race. */
  private readonly changing = new Map<string, Promise<unknown>>();
  /** Added since the last sweep. Infinite at first, so that a start sweeps once. */
  private added: Bounds = { entries: Number.POSITIVE_INFINITY, size: 0 };
  /** All lasting values, as last counted. */
  private total: Bounds = { entries: 0, size: 0 };
  private countedAt = Number.NEGATIVE_INFINITY;

  constructor(database: SqlDatabase, table: string, kind: string, options: StorageOptions<V>) {
    this.database = database;
    this.table = table;
    this.kind = kind;
    this.options = options;
    this.isLive = `used_at >= ${database.now} - ${Math.floor(options.ttlMs)}`;
    if (options.cached) this.cache = new LRUCache({ max: options.cached });
  }

  async get(key: string, owner: string): Promise<V | undefined> {
    return (await this.read(this.idOf(key, owner)))?.value;
  }

  async has(key: string, owner: string): Promise<boolean> {
    const sql = `select 1 from ${this.table} where ${OF_ITEM} and ${this.isLive}`;
    return (await this.database.query(sql, this.idOf(key, owner))).length > 0;
  }

  put(key: string, owner: string, ...values: readonly V[]): Promise<boolean> {
    const id = this.idOf(key, owner);
    return this.options.lasting ? this.putLasting(id, values[0]!) : this.putList(id, values);
  }

  update(key: string, owner: string, change: (value: V) => V | undefined): Promise<V | undefined> {
    const id = this.idOf(key, owner);
    const name = nameOf(id);
    const before = this.changing.get(name) ?? Promise.resolve();
    const changed = before.catch(() => {}).then(() => this.change(id, change));
    this.changing.set(name, changed);
    const forget = () => {
      if (this.changing.get(name) === changed) this.changing.delete(name);
    };
    changed.then(forget, forget);
    return changed;
  }

  async append(key: string, owner: string, position: number, value: V): Promise<boolean> {
    const { text, bytes } = this.toRow(value, 0);
    const { query, now } = this.database;
    const rows = await query(
      `insert into ${this.table} select $1, $2, $3, cast($4 as bigint), ${now}, cast($5 as bigint), $6, $7
       where exists (select 1 from ${this.table} where ${OF_ITEM} and position = cast($4 as bigint) - 1 and ${this.isLive})
       on conflict do nothing returning key`,
      [...this.idOf(key, owner), position, bytes, nextRevision(), text],
    );
    if (rows.length > 0) await this.noteAdded(0, bytes);
    return rows.length > 0;
  }

  async list(key: string, owner: string, from = 0): Promise<readonly V[]> {
    const { fromText = JSON.parse, ttlMs } = this.options;
    const rows = await this.database.query(
      `select position, value, ${this.database.now} - used_at as age from ${this.table}
       where ${OF_ITEM} and position >= $4 order by position`,
      [...this.idOf(key, owner), from],
    );
    const isWhole = Number(rows[0]?.position) === from;
    if (!isWhole || rows.every(({ age }) => Number(age) > ttlMs)) return [];
    return rows.map((row) => fromText(String(row.value)));
  }

  private idOf(key: string, owner: string): string[] {
    return [this.kind, toStoredText(owner), toStoredText(key)];
  }

  private toRow(value: V, overhead = this.options.overhead ?? 0): { text: string; bytes: number } {
    const text = (this.options.toText ?? JSON.stringify)(value);
    return { text, bytes: overhead + Buffer.byteLength(text) };
  }

  private async read(id: string[]): Promise<StoredItem<V> | undefined> {
    const { query, now } = this.database;
    const last = this.cache?.get(nameOf(id));
    const [row] = await query(
      `select revision, case when revision = $4 then null else value end as value, ${now} - used_at as age
       from ${this.table} where ${OF_ITEM} and position = 0 and ${this.isLive}`,
      [...id, last?.revision ?? ""],
    );
    const { fromText = JSON.parse, lasting, ttlMs } = this.options;
    const item = row && (last?.revision === row.revision ? last : toItem<V>(row, fromText));
    if (!item) return undefined;
    if (!lasting && Number(row.age) > ttlMs / RENEWALS)
      await query(`update ${this.table} set used_at = ${now} where ${OF_ITEM} and position = 0`, id);
    this.cache?.set(nameOf(id), item);
    return item;
  }

  /** Writes a change only over the revision it is based on. */
  private async change(id: string[], make: (value: V) => V | undefined): Promise<V | undefined> {
    let before = this.cache?.get(nameOf(id)) ?? (await this.read(id));
    for (let tries = 1; before; tries += 1) {
      if (tries > TRIES) throw problem("STATE_UNREACHABLE");
      const value = make(before.value);
      if (await this.write(id, before.revision, value)) return value;
      if (tries > 1) await setTimeout(Math.random() * PAUSE_MS);
      before = await this.read(id);
    }
    return undefined;
  }

  private async write(id: string[], before: string, value: V | undefined): Promise<boolean> {
    const { query, now } = this.database;
    const where = `${OF_ITEM} and position = 0 and revision = $4 and ${this.isLive}`;
    if (value === undefined) {
      this.cache?.delete(nameOf(id));
      const isSame = `exists (select 1 from ${this.table} where ${where})`;
      const sql = `delete from ${this.table} where ${OF_ITEM} and ${isSame} returning key`;
      return (await query(sql, [...id, before])).length > 0;
    }
    const revision = nextRevision();
    const { text, bytes } = this.toRow(value);
    const rows = await query(
      `update ${this.table} set value = $5, revision = $6, bytes = $7, used_at = ${now}
       where ${where} returning revision`,
      [...id, before, text, revision, bytes],
    );
    return this.remember(id, revision, value, rows);
  }

  private async putList(id: string[], values: readonly V[]): Promise<boolean> {
    const stored = values.map((value) => this.toRow(value));
    const size = stored.reduce((sum, { bytes }) => sum + bytes, 0);
    if (size > this.options.perOwner.size) return false;
    const revision = nextRevision();
    let rows: readonly SqlRow[] = [];
    // Write the first value last: without it, an incomplete list does not count.
    for (const [position, { text, bytes }] of [...stored.entries()].reverse()) {
      rows = await this.database.query(
        `insert into ${this.table} values ($1, $2, $3, $4, ${this.database.now}, $5, $6, $7)
         on conflict (kind, owner, key, position) do update set used_at = excluded.used_at returning revision`,
        [...id, position, bytes, revision, text],
      );
    }
    const isNew = this.remember(id, revision, values[0]!, rows);
    if (isNew) await this.noteAdded(1, size);
    return isNew;
  }

  private async putLasting(id: string[], value: V): Promise<boolean> {
    await this.countAll();
    const { text, bytes } = this.toRow(value);
    const room = roomOfOwner(this.options, this.total);
    const revision = nextRevision();
    const rows = await this.database.query(
      `insert into ${this.table} as known
         select $1, $2, $3, 0, ${this.database.now}, cast($4 as bigint), $5, $6 where (
           select count(*) < $7 and coalesce(sum(bytes), 0) + $4 <= $8 from ${this.table}
           where kind = $1 and owner = $2 and ${this.isLive})
       on conflict (kind, owner, key, position) do update
         set used_at = excluded.used_at, bytes = excluded.bytes, revision = excluded.revision, value = excluded.value
         where not known.${this.isLive}
       returning revision`,
      [...id, bytes, revision, text, room.entries, room.size],
    );
    return this.remember(id, revision, value, rows);
  }

  /** Whether the rows have the new revision. */
  private remember(id: string[], revision: string, value: V, rows: readonly SqlRow[]): boolean {
    if (rows[0]?.revision !== revision) return false;
    this.cache?.set(nameOf(id), { revision, value });
    return true;
  }

  /** Counting all values takes long, so do it rarely. */
  private async countAll(): Promise<void> {
    if (performance.now() - this.countedAt < COUNT_MS) return;
    this.countedAt = performance.now();
    await this.database.query(`delete from ${this.table} where kind = $1 and not ${this.isLive}`, [
      this.kind,
    ]);
    const [row] = await this.database.query(
      `select count(*) as entries, coalesce(sum(bytes), 0) as size from ${this.table} where kind = $1`,
      [this.kind],
    );
    this.total = { entries: Number(row?.entries), size: Number(row?.size) };
  }

  /** Sweeps after much was added, and leaves room for what may be added before the next sweep. */
  private async noteAdded(entries: number, size: number): Promise<void> {
    const { all, perOwner } = this.options;
    if (all === UNBOUNDED) return;
    const spare = {
      entries: Math.ceil(Math.min(SWEEP_EVERY, perOwner.entries / SWEEP_PART)),
      size: Math.floor(perOwner.size / SWEEP_PART),
    };
    this.added = { entries: this.added.entries + entries, size: this.added.size + size };
    if (this.added.entries <= spare.entries && this.added.size <= spare.size) return;
    this.added = { entries: 0, size: 0 };
    await this.sweep(without(all, spare), without(perOwner, spare));
  }

  /** Deletes values that expired or exceed a limit, least recently used first. */
  private async sweep(all: Bounds, perOwner: Bounds): Promise<void> {
    const { query, now, pairs } = this.database;
    const rows = await query(
      `select owner, key, sum(bytes) as bytes, ${now} - max(used_at) as age from ${this.table}
       where kind = $1 group by owner, key order by max(used_at), max(revision)`,
      [this.kind],
    );
    const forgotten: SqlRow[] = [];
    const onRemoved = (_: string, row: SqlRow) => void forgotten.push(row);
    const held = createFairCache<SqlRow>({ all, perOwner, ttlMs: Number.POSITIVE_INFINITY, onRemoved });
    for (const row of rows) {
      const { owner, key } = row;
      if (Number(row.age) > this.options.ttlMs) forgotten.push(row);
      else held.set(nameOf([this.kind, String(owner), String(key)]), String(owner), row, Number(row.bytes));
    }
    if (forgotten.length === 0) return;
    await query(`delete from ${this.table} where kind = $1 and (owner, key) in (${pairs})`, [
      this.kind,
      JSON.stringify(forgotten.map(({ owner, key }) => [owner, key])),
    ]);
  }
}

function without({ entries, size }: Bounds, spare: Bounds): Bounds {
  return { entries: Math.max(1, entries - spare.entries), size: size - spare.size };
}

let revisions = 0;

/** Unique, and later than earlier revisions of this process, even within a millisecond. */
function nextRevision(): string {
  revisions += 1;
  return `${String(revisions).padStart(12, "0")} ${randomUUID()}`;
}

/** One text for kind, owner and key. */
function nameOf([kind = "", owner = "", key = ""]: readonly string[]): string {
  return `${kind} ${owner.length} ${owner}${key}`;
}

/** Undefined if the text is unreadable. */
function toItem<V>({ revision, value }: SqlRow, fromText: (text: string) => V): StoredItem<V> | undefined {
  try {
    return { revision: String(revision), value: fromText(String(value)) };
  } catch {
    return undefined;
  }
}
