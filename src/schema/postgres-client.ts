/** The part of a PostgreSQL client that Keyhole uses. `Pool` and `Client` of `pg` have it, and so does PGlite. */
export interface PostgresClient {
  query(sql: string, params?: unknown[]): Promise<{ readonly rows: readonly object[] }>;
}
