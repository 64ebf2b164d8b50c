import type { PostgresClient } from "../../schema/postgres-client.ts";

export type { PostgresClient };

/** A row of a result, by column. */
export type Row = Readonly<Record<string, unknown>>;

export async function queryRows(
  client: PostgresClient,
  sql: string,
  params: unknown[] = [],
): Promise<readonly Row[]> {
  const { rows } = await client.query(sql, params);
  return rows as readonly Row[];
}
