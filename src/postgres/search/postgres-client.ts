import type { PostgresClient } from "../../core/storage/postgres-client.ts";

export type { PostgresClient };

/** A row of a result, by column. */
export type IndexRow = Readonly<Record<string, unknown>>;

export async function queryRows(
  client: PostgresClient,
  sql: string,
  params: unknown[] = [],
): Promise<readonly IndexRow[]> {
  const { rows } = await client.query(sql, params);
  return rows as readonly IndexRow[];
}
