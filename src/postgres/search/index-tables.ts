import type { PostgresClient } from "../../core/storage/postgres-client.ts";
import type { SqlDatabase, SqlRow } from "../../core/storage/sql-storage.ts";
import { quotedNames } from "../quoted-names.ts";

/** Increases when the tables, their functions or the text analysis change. Versions live side by side. */
const VERSION = 6;

/** The tables of an index, and how to query them. */
export interface IndexTables extends Pick<SqlDatabase, "query"> {
  readonly names: TableNames;
  /** Whether a table exists. */
  has(table: string): Promise<boolean>;
}

/** Names of an index's tables and functions. Safe to put into SQL. */
export type TableNames = Readonly<ReturnType<typeof tableNames>>;

/** @throws `INVALID_INPUT` if the prefix is not a plain identifier, with or without a schema. */
export function openIndexTables(client: PostgresClient, prefix: string): IndexTables {
  const existing = new Set<string>();
  async function query(sql: string, params: unknown[] = []): Promise<readonly SqlRow[]> {
    return (await client.query(sql, params)).rows as readonly SqlRow[];
  }
  return {
    names: tableNames(prefix),
    query,
    has: async (table) => {
      if (existing.has(table)) return true;
      const [row] = await query("select to_regclass($1) is not null as there", [table]);
      if (row?.there === true) existing.add(table);
      return existing.has(table);
    },
  };
}

function tableNames(prefix: string) {
  const nameOf = quotedNames(prefix, "createPostgresIndex");
  const quoted = (suffix: string) => nameOf(`_v${VERSION}${suffix}`);
  return {
    documents: quoted(""),
    postings: quoted("_postings"),
    blocks: quoted("_blocks"),
    terms: quoted("_terms"),
    state: quoted("_state"),
    vectors: quoted("_vectors"),
    putFunction: quoted("_put"),
    dropFunction: quoted("_drop"),
    forgetFunction: quoted("_forget"),
    packFunction: quoted("_pack"),
    askFunction: quoted("_ask"),
    putVectorsFunction: quoted("_put_vectors"),
  };
}
