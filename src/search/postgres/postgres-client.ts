/** What is used of a PostgreSQL client. A `Pool` or `Client` of `pg` has it, and so does PGlite. */
export interface PostgresClient {
  query(sql: string, params?: unknown[]): Promise<{ readonly rows: readonly object[] }>;
}

/** A row of an answer, column by column. */
export type Row = Readonly<Record<string, unknown>>;

export async function queryRows(
  client: PostgresClient,
  sql: string,
  params: unknown[] = [],
): Promise<readonly Row[]> {
  const { rows } = await client.query(sql, params);
  return rows as readonly Row[];
}
