import { hash } from "node:crypto";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { problem } from "../../base/problems/problem.ts";
import { crc32 } from "../../base/util/content-hash.ts";
import type { Embedder } from "./embedder.ts";

/** An embedder with a cache of its vectors. */
export interface CachedEmbedder extends Embedder {
  /** Closes the file of the cache. */
  close(): void;
}

/**
 * Wraps an embedder so that it never embeds the same text twice. With a `path`, vectors survive the process. See {@link
 * createHttpEmbedder}.
 * @example
 * ```ts
 * import { createCachedEmbedder, createStaticEmbedder } from "keyhole/search";
 *
 * const embedder = createCachedEmbedder(createStaticEmbedder(), { path: "vectors.db" });
 * const [vector] = await embedder.embed(["refund"]);
 * console.assert(vector?.length === embedder.dimensions);
 * embedder.close();
 * ```
 */
export function createCachedEmbedder(embedder: Embedder, options: VectorCacheOptions = {}): CachedEmbedder {
  const cache = createVectorCache(options);
  return Object.assign(cachedEmbedder(embedder, cache), { close: () => cache.close() });
}

export function cachedEmbedder(embedder: Embedder, cache: VectorCache): Embedder {
  const pending = new Map<string, Promise<Float32Array>>();

  function embedNew(texts: ReadonlyMap<string, string>): void {
    const embedding = embedAll(embedder, texts).then((vectors) => {
      cache.put(vectors);
      return vectors;
    });
    for (const key of texts.keys()) {
      const vector = embedding.then((vectors) => vectors.get(key)!);
      pending.set(key, vector);
      const forget = () => pending.delete(key);
      vector.then(forget, forget);
    }
  }

  return {
    id: embedder.id,
    get dimensions() {
      return embedder.dimensions;
    },
    async embed(texts) {
      const byKey = new Map<string, Float32Array | Promise<Float32Array>>();
      const unknown = new Map<string, string>();
      const keys = texts.map((text) => keyOf(embedder, text));
      for (const [index, key] of keys.entries()) {
        if (byKey.has(key) || unknown.has(key)) continue;
        const cached = cache.get(key) ?? pending.get(key);
        if (cached !== undefined) byKey.set(key, cached);
        else unknown.set(key, texts[index]!);
      }
      if (unknown.size > 0) embedNew(unknown);
      for (const key of unknown.keys()) byKey.set(key, pending.get(key)!);
      // Copies: a caller may change its vector, which must not change the cache.
      return Promise.all(keys.map(async (key) => (await byKey.get(key)!).slice()));
    },
  };
}

async function embedAll(
  embedder: Embedder,
  texts: ReadonlyMap<string, string>,
): Promise<Map<string, Float32Array>> {
  const vectors = await embedder.embed([...texts.values()]);
  if (vectors.length !== texts.size) {
    throw problem("INTERNAL", {
      name: `The embedder ${embedder.id}`,
      reason: `it gave ${vectors.length} vectors for ${texts.size} texts.`,
    });
  }
  return new Map([...texts.keys()].map((key, index) => [key, vectors[index]!]));
}

function keyOf(embedder: Embedder, text: string): string {
  return hash("sha256", `${embedder.id}\0${text}`, "base64url");
}

/** Stores vectors by key. May forget and never fails: a vector that cannot be stored is a miss. */
interface VectorCache {
  get(key: string): Float32Array | undefined;
  put(vectors: ReadonlyMap<string, Float32Array>): void;
  close(): void;
}

interface VectorDatabase {
  readonly database: DatabaseSync;
  readonly select: StatementSync;
  readonly insert: StatementSync;
  readonly prune: StatementSync;
}

/** Includes the format, so that versions of the program can share a file. */
const TABLE = "vectors_1";
const CHECKSUM_BYTES = 4;
/** SQLite's primary codes for a damaged file and for a file that is no database. */
const DAMAGE = new Set([11, 26]);
const BUSY = 5;

/** Opens or creates the file. Beyond `maximum`, the oldest vectors are deleted. */
function openVectorFile(path: string, maximum: number): VectorCache {
  let connection = open(path);

  /** After damage, creates a new file; after any other failure, the cache continues without one. */
  function use<Result>(action: (connection: VectorDatabase) => Result): Result | undefined {
    if (connection === undefined) return undefined;
    try {
      return action(connection);
    } catch (error) {
      if (sqliteCode(error) === BUSY) return undefined;
      close(connection);
      connection = replaceIfDamaged(error, path);
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

function open(path: string): VectorDatabase | undefined {
  try {
    return connect(path);
  } catch (error) {
    return replaceIfDamaged(error, path);
  }
}

function connect(path: string): VectorDatabase {
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

function replaceIfDamaged(error: unknown, path: string): VectorDatabase | undefined {
  if (!DAMAGE.has(sqliteCode(error))) return undefined;
  return attempt(() => {
    renameSync(path, `${path}.damaged`);
    // The log belongs to the old file and would be replayed into the new one.
    for (const suffix of ["-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
    return connect(path);
  });
}

function close({ database }: VectorDatabase): void {
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

function attempt<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** Options of {@link createCachedEmbedder}. */
export interface VectorCacheOptions {
  /** File that stores the vectors between runs. A damaged one is renamed to `<path>.damaged`. */
  readonly path?: string;
  /** Default: 10,000. */
  readonly maximumInMemory?: number;
  /** Default: 1,000,000. Beyond this, the oldest are deleted. */
  readonly maximumInFile?: number;
}

const MAXIMUM_IN_MEMORY = 10_000;
const MAXIMUM_IN_FILE = 1_000_000;

/** The latest vectors in memory and, with a path, all of them in a file. */
export function createVectorCache(options: VectorCacheOptions = {}): VectorCache {
  const { path, maximumInMemory = MAXIMUM_IN_MEMORY, maximumInFile = MAXIMUM_IN_FILE } = options;
  const memory = new LRUCache<string, Float32Array>({ max: maximumInMemory });
  const file = path === undefined ? undefined : openVectorFile(path, maximumInFile);

  return {
    get(key) {
      const cached = memory.get(key);
      if (cached !== undefined) return cached;
      const stored = file?.get(key);
      if (stored !== undefined) memory.set(key, stored);
      return stored;
    },
    put(vectors) {
      for (const [key, vector] of vectors) memory.set(key, vector);
      file?.put(vectors);
    },
    close: () => file?.close(),
  };
}
