import { mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { crc32 } from "../../util/crc32.ts";

/** Vectors in a SQLite file. Nothing here throws: a file that cannot serve gives misses. */
export interface VectorFile {
  get(key: string): Float32Array | undefined;
  put(vectors: ReadonlyMap<string, Float32Array>): void;
  close(): void;
}

interface Connection {
  readonly database: DatabaseSync;
  readonly select: StatementSync;
  readonly insert: StatementSync;
  readonly prune: StatementSync;
}

/** The name carries the format, so that versions of the program can share a file. */
const TABLE = "vectors_1";
const CHECKSUM_BYTES = 4;
/** SQLite's primary codes for a damaged file and for a file that is no database. */
const DAMAGE = new Set([11, 26]);

/** Opens or creates the file; at most `maximum` vectors stay in it, the oldest go first. */
export function openVectorFile(path: string, maximum: number): VectorFile {
  let connection = open(path);

  /** After damage there is a new file; after anything else the cache goes on without one. */
  function use<Result>(action: (connection: Connection) => Result): Result | undefined {
    if (connection === undefined) return undefined;
    try {
      return action(connection);
    } catch (error) {
      if (isBusy(error)) return undefined;
      close(connection);
      connection = isDamage(error) ? attempt(() => replaceDamaged(path)) : undefined;
      return undefined;
    }
  }

  return {
    get: (key) => use(({ select }) => toVector(select.get(key)?.vector)),
    put: (vectors) =>
      use(({ database, insert, prune }) => {
        database.exec("BEGIN IMMEDIATE");
        try {
          for (const [key, vector] of vectors) insert.run(key, toBlob(vector));
          prune.run(maximum);
          database.exec("COMMIT");
        } catch (error) {
          attempt(() => database.exec("ROLLBACK"));
          throw error;
        }
      }),
    close() {
      if (connection !== undefined) close(connection);
      connection = undefined;
    },
  };
}

function open(path: string): Connection | undefined {
  try {
    return connect(path);
  } catch (error) {
    return isDamage(error) ? attempt(() => replaceDamaged(path)) : undefined;
  }
}

function connect(path: string): Connection {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path, { timeout: 2000 });
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    database.exec(
      `CREATE TABLE IF NOT EXISTS ${TABLE} (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, vector BLOB NOT NULL)`,
    );
    return {
      database,
      select: database.prepare(`SELECT vector FROM ${TABLE} WHERE key = ?`),
      insert: database.prepare(`INSERT OR REPLACE INTO ${TABLE} (key, vector) VALUES (?, ?)`),
      prune: database.prepare(`DELETE FROM ${TABLE} WHERE number <= (SELECT max(number) FROM ${TABLE}) - ?`),
    };
  } catch (error) {
    attempt(() => database.close());
    throw error;
  }
}

function replaceDamaged(path: string): Connection {
  renameSync(path, `${path}.damaged`);
  // The log belongs to the old file and would be replayed into the new one.
  for (const suffix of ["-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
  return connect(path);
}

function close({ database }: Connection): void {
  attempt(() => database.close());
}

function toBlob(vector: Float32Array): Uint8Array {
  const blob = new Uint8Array(vector.byteLength + CHECKSUM_BYTES);
  const view = new DataView(blob.buffer);
  for (const [index, value] of vector.entries()) view.setFloat32(CHECKSUM_BYTES + index * 4, value, true);
  view.setUint32(0, crc32(blob.subarray(CHECKSUM_BYTES)), true);
  return blob;
}

function toVector(blob: unknown): Float32Array | undefined {
  if (!(blob instanceof Uint8Array) || blob.length < CHECKSUM_BYTES || blob.length % 4 !== 0)
    return undefined;
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  if (view.getUint32(0, true) !== crc32(blob.subarray(CHECKSUM_BYTES))) return undefined;
  const length = blob.length / 4 - 1;
  return Float32Array.from({ length }, (_, index) => view.getFloat32(CHECKSUM_BYTES + index * 4, true));
}

function sqliteCode(error: unknown): number {
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
  return code & 0xff;
}

function isDamage(error: unknown): boolean {
  return DAMAGE.has(sqliteCode(error));
}

function isBusy(error: unknown): boolean {
  return sqliteCode(error) === 5;
}

function attempt<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
