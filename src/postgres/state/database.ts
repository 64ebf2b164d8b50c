import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { PostgresClient } from "../../core/storage/postgres-client.ts";
import type { SqlDatabase, SqlRow } from "../../core/storage/sql-storage.ts";
import { publish } from "../../core/telemetry/events.ts";

/** The tables of the state. Safe to put into SQL. */
export type StateTables = Readonly<ReturnType<typeof stateTables>>;

/** `query` throws STATE_UNREACHABLE if the statement failed. It may have taken effect. */
export interface Database extends SqlDatabase {
  readonly tables: StateTables;
}

const NOW = "cast(extract(epoch from now()) * 1000 as bigint)";
const PAIRS = "select pair ->> 0, pair ->> 1 from json_array_elements(cast($2 as json)) as pair";

export function stateTables(nameOf: (suffix: string) => string) {
  return {
    versions: nameOf("_state_versions"),
    counters: nameOf("_counters"),
    gateways: nameOf("_gateways"),
    values: nameOf("_values"),
    records: nameOf("_records"),
  };
}

/** Serialization failure and deadlock: the statement had no effect. */
const TRY_AGAIN = new Set(["40001", "40P01"]);
const TRIES = 5;

export function openDatabase(client: PostgresClient, tables: StateTables): Database {
  async function query(sql: string, params: unknown[] = [], tries = TRIES): Promise<readonly SqlRow[]> {
    try {
      return (await client.query(sql, params)).rows as readonly SqlRow[];
    } catch (error) {
      const code = String((error as { code?: unknown }).code);
      if (TRY_AGAIN.has(code) && tries > 1) return query(sql, params, tries - 1);
      // The reason may name hosts, which callers must not see.
      publish({ type: "notice", notice: "state-failed", detail: reasonOf(error) });
      throw problem("STATE_UNREACHABLE");
    }
  }
  return { tables, now: NOW, pairs: PAIRS, query: (sql, params) => query(sql, params) };
}
