// One SQLite database for the four domains.
import { DatabaseSync } from "node:sqlite";
import { makeCrowd, PRODUCTS } from "./data/crowd.ts";
import { AUDIT, CHAIN, EVENTS, LABELS, ORDERS, TICKETS, TRANSFERS, USERS } from "./data/people.ts";
import { SCHEMA, TABLES, type Table } from "./data/schema.ts";

/** The database with the clock that dates its writes. */
export interface Warehouse {
  readonly database: DatabaseSync;
  readonly path: string;
  readonly now: () => Date;
  /** The time limit of an agent's SQL. */
  readonly sqlMs: number;
}

const BUSY_MS = 5_000;

export function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_MS });
  database.exec(SCHEMA);
  if (!database.prepare("SELECT 1 FROM dim_user").get()) fill(database);
  return database;
}

/** Discards all changes and restores the initial data. */
export function fill(database: DatabaseSync): void {
  const crowd = makeCrowd();
  const rows: Record<Table, readonly (readonly (string | number | null)[])[]> = {
    dim_user: [...USERS, ...crowd.users],
    dim_product: PRODUCTS,
    fact_orders: [...ORDERS, ...crowd.orders],
    fact_transfers: [...TRANSFERS, ...crowd.transfers],
    audit_access: AUDIT,
    log_events: [...EVENTS, ...crowd.events],
    tickets: TICKETS,
    chain_transfers: CHAIN,
    chain_labels: LABELS,
  };
  database.exec("BEGIN IMMEDIATE");
  for (const table of TABLES.toReversed()) database.exec(`DELETE FROM ${table}`);
  for (const table of TABLES) {
    const places = (rows[table][0] ?? []).map(() => "?").join(", ");
    const insert = database.prepare(`INSERT INTO ${table} VALUES (${places})`);
    for (const row of rows[table]) insert.run(...row);
  }
  database.exec("COMMIT");
}
