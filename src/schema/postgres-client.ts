/** What is used of a PostgreSQL client. A `Pool` or `Client` of `pg` has it, and so does PGlite. */
export interface PostgresClient {
  query(sql: string, params?: unknown[]): Promise<{ readonly rows: readonly object[] }>;
}
