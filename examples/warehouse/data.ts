// The data behind the warehouse example: a small SQLite database, a few log events and wallet transfers.
import { constants, DatabaseSync } from "node:sqlite";

/** Transfers of this amount or more are reported by law, which is why some people stay just below it. */
export const REPORTING_LIMIT = 1_000;

export type TableName = keyof typeof TABLES;
export const TABLES = {
  dim_user: {
    about: "Customers, with the device they signed up on and their crypto wallet, if any.",
    columns: { user_id: "TEXT", name: "TEXT", device_id: "TEXT", wallet: "TEXT" },
  },
  fact_orders: {
    about: "Orders, in whole euros: where spend and revenue come from.",
    columns: { order_id: "INTEGER", user_id: "TEXT", amount: "INTEGER", ordered_on: "TEXT" },
  },
  fact_transfers: {
    about: "Transactions that moved money out of a customer's account, in whole euros.",
    columns: { transfer_id: "INTEGER", user_id: "TEXT", amount: "INTEGER", made_on: "TEXT" },
  },
} as const;

const WALLET = "0x7c3e5f0a91d2";

const USERS = [
  ["u-1042", "Xenia Marsh", "device-a", WALLET],
  ["u-1043", "Theo Marsh", "device-a", null],
  ["u-2001", "Hanna Berg", "device-b", null],
  ["u-3007", "Victor Ip", "device-c", null],
] as const;

const ORDERS = [
  [1, "u-1042", 5_000, "2026-01-09"],
  [2, "u-1042", 3_500, "2026-02-11"],
  [3, "u-2001", 320, "2026-02-20"],
  [4, "u-3007", 24_000, "2026-03-02"],
] as const;

const ORDINARY_TRANSFERS = [
  [1, "u-1042", 120, "2026-01-10"],
  [2, "u-2001", 45, "2026-02-21"],
  [3, "u-3007", 2_400, "2026-03-04"],
] as const;

/** Fifteen days in a row, 985 to 999 euros a day. */
const SUSPICIOUS_TRANSFERS = Array.from({ length: 15 }, (_, day) => {
  const madeOn = `2026-03-${String(day + 1).padStart(2, "0")}`;
  return [100 + day, "u-1042", 985 + day, madeOn] as const;
});

export const LOG_EVENTS = [
  { user_id: "u-1042", at: "2026-03-01T02:14:00Z", event: "login", country: "NL" },
  { user_id: "u-1042", at: "2026-03-01T02:15:00Z", event: "wallet.connected", country: "NL" },
  { user_id: "u-1042", at: "2026-03-01T02:40:00Z", event: "login", country: "PA" },
  { user_id: "u-2001", at: "2026-02-20T18:05:00Z", event: "login", country: "DE" },
  { user_id: "u-3007", at: "2026-03-02T09:30:00Z", event: "login", country: "BE" },
];

export const WALLET_TRANSFERS = [
  { from: WALLET, to: "0x19aa04c7e6b8", amount: 14_000 },
  { from: "0x19aa04c7e6b8", to: "0xmixer", amount: 13_900 },
];

export const warehouse = openWarehouse();

function openWarehouse(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  for (const [table, { columns }] of Object.entries(TABLES)) {
    const definitions = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
    database.exec(`CREATE TABLE ${table} (${definitions.join(", ")})`);
  }
  const fill = (table: TableName, rows: readonly (readonly (string | number | null)[])[]) => {
    const insert = database.prepare(`INSERT INTO ${table} VALUES (?, ?, ?, ?)`);
    for (const row of rows) insert.run(...row);
  };
  fill("dim_user", USERS);
  fill("fact_orders", ORDERS);
  fill("fact_transfers", [...ORDINARY_TRANSFERS, ...SUSPICIOUS_TRANSFERS]);
  allowOnlyReading(database);
  return database;
}

/** The agent writes SQL of its own, so the database itself refuses everything but reading. */
function allowOnlyReading(database: DatabaseSync): void {
  const { SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_OK, SQLITE_DENY } = constants;
  const reading = new Set([SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION]);
  database.setAuthorizer((action) => (reading.has(action) ? SQLITE_OK : SQLITE_DENY));
}
