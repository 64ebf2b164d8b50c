import type { PostgresClient } from "../schema/postgres-client.ts";
import { problem } from "../schema/problem.ts";
import { publish } from "../telemetry/events.ts";
import { reasonOf } from "../util/reason-of.ts";

type Row = Readonly<Record<string, unknown>>;

/** The tables of the state. Safe to put into SQL. */
export interface StateTables {
  readonly versions: string;
  readonly counters: string;
  readonly gateways: string;
  readonly sessions: string;
  readonly results: string;
  readonly keys: string;
  readonly approvals: string;
  readonly records: string;
  readonly learning: string;
  readonly audit: string;
  readonly chains: string;
}

/** Runs single statements, each a transaction of its own. */
export interface Database {
  readonly tables: StateTables;
  /** @throws STATE_UNREACHABLE if the statement failed. It may have taken effect. */
  query(sql: string, params?: unknown[]): Promise<readonly Row[]>;
}

export function stateTables(nameOf: (suffix: string) => string): StateTables {
  return {
    versions: nameOf("_state_versions"),
    counters: nameOf("_counters"),
    gateways: nameOf("_gateways"),
    sessions: nameOf("_sessions"),
    results: nameOf("_results"),
    keys: nameOf("_keys"),
    approvals: nameOf("_approvals"),
    records: nameOf("_records"),
    learning: nameOf("_learning"),
    audit: nameOf("_audit"),
    chains: nameOf("_audit_chains"),
  };
}

/** Serialization failure and deadlock: the statement had no effect. */
const TRY_AGAIN = new Set(["40001", "40P01"]);
const TRIES = 5;

export function openDatabase(client: PostgresClient, tables: StateTables): Database {
  async function query(sql: string, params: unknown[] = [], tries = TRIES): Promise<readonly Row[]> {
    try {
      return (await client.query(sql, params)).rows as readonly Row[];
    } catch (error) {
      const code = String((error as { code?: unknown }).code);
      if (TRY_AGAIN.has(code) && tries > 1) return query(sql, params, tries - 1);
      // The reason may name hosts, which callers must not read.
      publish({ type: "notice", notice: "state-failed", detail: reasonOf(error) });
      throw problem("STATE_UNREACHABLE");
    }
  }
  return { tables, query: (sql, params) => query(sql, params) };
}
