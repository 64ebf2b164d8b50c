import { problem } from "../../base/problems/problem.ts";
import { importInstalled } from "../../base/util/import-module.ts";

/** The part of a PostgreSQL client that Keyhole uses. `Pool` and `Client` of `pg` fit, and so does PGlite. */
export interface PostgresClient {
  query(sql: string, params?: unknown[]): Promise<{ readonly rows: readonly object[] }>;
}

/**
 * PostgreSQL cannot store NUL or half a surrogate pair. Such characters, and U+E000 itself, are written as U+E000 and
 * four hex digits, so that different texts stay different.
 */
const UNSTORABLE = /[\0\uE000]|\p{Surrogate}/gu;
const ESCAPED = /\uE000([0-9a-f]{4})/g;

export function toStoredText(text: string): string {
  return text.replace(UNSTORABLE, (unit) => `\uE000${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function fromStoredText(stored: string): string {
  return stored.replace(ESCAPED, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** The part of a `pg` pool that Keyhole uses. */
export interface PostgresPool extends PostgresClient {
  end(): Promise<void>;
  on(event: "error", listener: (error: unknown) => void): unknown;
}

const CONNECT_MS = 5_000;
const QUERY_MS = 30_000;
const IDLE_MS = 10_000;

/**
 * Opens a pool that does not keep the process alive.
 *
 * @throws PACKAGE_MISSING
 */
export async function openPool(url: string, feature: string, most: number): Promise<PostgresPool> {
  const loaded = await importInstalled("pg");
  const { Pool } = (loaded?.default ?? {}) as { Pool?: new (options: object) => PostgresPool };
  if (!Pool) throw problem("PACKAGE_MISSING", { name: "pg", feature });
  const pool = new Pool({
    connectionString: url,
    max: most,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  // The next query replaces a connection that ended while idle.
  pool.on("error", () => {});
  return pool;
}
