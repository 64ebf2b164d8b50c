import { reasonOf } from "../../base/util/reason-of.ts";
import type { PostgresClient } from "../../core/storage/postgres-client.ts";
import { quotedNames } from "../quoted-names.ts";
import { openDatabase, stateTables } from "./database.ts";
import { TABLES_VERSION, versionOf } from "./migrate.ts";
import { LEASE_MS } from "./open-postgres-state.ts";

/** Why a database cannot hold the state, for the person who runs it, and the next step. */
export interface DatabaseFault {
  readonly reason: string;
  readonly step: string;
}

/** A database with the state of gateways. */
interface DatabaseFacts {
  /** Such as `15.14`. */
  readonly server: string;
  /** Version of the tables; 0 if there are none yet. */
  readonly tables: number;
  /** How many gateways were seen within their lease. */
  readonly gateways: number;
}

/** Codes of sockets and of PostgreSQL, with the next step. The first match counts. */
const FAULTS: readonly (readonly [code: RegExp, reason: string, step: string])[] = [
  [/^ECONNREFUSED$/, "nothing listens at its address", "Start PostgreSQL, or correct the host and the port."],
  [
    /^(?:ENOTFOUND|EAI_AGAIN)$/,
    "the name of its host does not resolve",
    "Correct the host, or check the network.",
  ],
  [
    /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    "it does not answer",
    "Check the network and a firewall on the way.",
  ],
  [/^28/, "it does not accept the user or the password", "Correct the user and the password."],
  [/^3D000$/, "the database does not exist", "Create it (createdb NAME), or correct the name."],
  [
    /^53300$/,
    "it has no free connection",
    "Raise max_connections, or run fewer replicas: each takes up to 10.",
  ],
  [/^42501$/, "the role lacks a right", "Let the role create tables in its schema: grant create on schema."],
];
const OLDEST_SERVER = 140_000;

/** Undefined if the database can hold the state. */
export async function whyUnusable(client: PostgresClient): Promise<DatabaseFault | undefined> {
  try {
    const { rows } = await client.query(
      `select current_setting('server_version_num')::int as number, current_setting('server_version') as server,
       pg_is_in_recovery() as behind, current_setting('default_transaction_read_only') = 'on' as "readOnly"`,
    );
    const { number, server, behind, readOnly } = rows[0] as Record<string, unknown>;
    if (Number(number) < OLDEST_SERVER)
      return { reason: `it is PostgreSQL ${server}`, step: "Use PostgreSQL 14 or later." };
    if (behind === true)
      return { reason: "it is a replica, which may be behind", step: "Name the address of the primary." };
    if (readOnly === true)
      return { reason: "the role may only read", step: "Use a role that may write, without read-only mode." };
    return undefined;
  } catch (error) {
    return toFault(error);
  }
}

/** Reads the facts of a usable database. */
export async function examineDatabase(
  client: PostgresClient,
  table: string,
): Promise<DatabaseFacts | DatabaseFault> {
  try {
    const database = openDatabase(client, stateTables(quotedNames(table, "state.table")));
    const { rows } = await client.query(
      `select current_setting('server_version') as server,
       has_schema_privilege(coalesce($1, current_schema()), 'create') as "mayCreate"`,
      [table.includes(".") ? table.split(".")[0] : null],
    );
    const { server, mayCreate } = rows[0] as Record<string, unknown>;
    const tables = await versionOf(database);
    if (tables < TABLES_VERSION && mayCreate !== true)
      return {
        reason: "its tables are missing or old, and the role may not create tables",
        step: "Let the role create tables in its schema, or start one gateway with a role that may.",
      };
    // Distributions append a package name and number.
    return {
      server: String(server).split(" ")[0]!,
      tables,
      gateways: tables > 0 ? await countGateways(client, database) : 0,
    };
  } catch (error) {
    return toFault(error);
  }
}

async function countGateways(
  client: PostgresClient,
  { tables: { gateways } }: ReturnType<typeof openDatabase>,
): Promise<number> {
  const { rows } = await client.query(
    `select count(*)::int as alive from ${gateways} where seen_at >= now() - ${LEASE_MS} * interval '1 millisecond'`,
  );
  return Number((rows[0] as { alive?: unknown }).alive);
}

function toFault(error: unknown): DatabaseFault {
  const code = String((error as { code?: unknown } | undefined)?.code ?? "");
  const [, reason, step] = FAULTS.find(([known]) => known.test(code)) ?? [];
  if (reason !== undefined && step !== undefined) return { reason, step };
  return { reason: reasonOf(error).replace(/\.$/, ""), step: "Correct the address of the database." };
}
