import { randomBytes } from "node:crypto";
import { problem } from "../../base/problems/problem.ts";
import { createRedact } from "../../base/safety/redact.ts";
import type { Bounds, OpenStorage } from "../../base/util/storage.ts";
import { type Consents, createConsents } from "../../core/access/consents.ts";
import { openGrants } from "../../core/access/grants.ts";
import { createPinsOver, type Pins } from "../../core/access/pins.ts";
import { AuditLog } from "../../core/audit/audit-log.ts";
import type { AuditStore } from "../../core/audit/audit-store.ts";
import { StorageChains } from "../../core/audit/storage-chains.ts";
import {
  createIdempotency,
  type Idempotency,
  type IdempotencyOptions,
} from "../../core/storage/idempotency.ts";
import { createPlanStore } from "../../core/storage/plan-store.ts";
import type { PostgresClient } from "../../core/storage/postgres-client.ts";
import type { RecordStorage } from "../../core/storage/records.ts";
import { createResultStore, type ResultStore } from "../../core/storage/result-store.ts";
import {
  createSessionStore,
  type SessionStore,
  type SessionStoreOptions,
} from "../../core/storage/session-store.ts";
import {
  createSpentApprovals,
  SECRET_BYTES,
  type SpentApprovals,
} from "../../core/storage/spent-approvals.ts";
import { createSqlDriver } from "../../core/storage/sql-storage.ts";
import { quotedNames } from "../quoted-names.ts";
import { type Database, openDatabase, stateTables } from "./database.ts";
import { joinGateways } from "./gateways.ts";
import { migrate } from "./migrate.ts";
import { createPostgresRecords } from "./postgres-records.ts";

/** Options of {@link createPostgresState}. */
export interface PostgresStateOptions {
  /** A pool of `pg` on the primary, or anything with its `query`. Closing the state leaves it open. */
  readonly client: PostgresClient;
  /**
   * Prefix of all tables, with or without a schema. Gateways with the same prefix share the state. Default: `keyhole`.
   */
  readonly table?: string;
  /** Texts that must not be written, besides those that look like secrets. */
  readonly secrets?: readonly string[];
  /** How long a gateway counts as running after it was last seen. Default: 10 seconds. */
  readonly leaseMs?: number;
  readonly sessions?: Pick<SessionStoreOptions, "maxSessions" | "idleMs">;
  readonly results?: { readonly all?: Bounds; readonly perPrincipal?: Bounds; readonly idleMs?: number };
  readonly idempotency?: Pick<IdempotencyOptions, "all" | "perPrincipal">;
}

/** The state of a gateway in PostgreSQL. */
export interface PostgresState {
  /** Options for {@link createGateway}. */
  readonly stores: {
    readonly sessions: SessionStore;
    readonly results: ResultStore;
    readonly idempotency: Idempotency;
    readonly approvals: SpentApprovals;
    readonly pins: Pins;
    readonly learning: { readonly log: OpenStorage };
  };
  /** The audit log: pass it as `audit: { store: state.audit }`. */
  readonly audit: AuditStore;
  /** Consents to start servers, for `mayStart` of their sources. */
  readonly consents: Consents<Promise<boolean>>;
  /** Leaves the group. Close the gateway first. */
  close(): Promise<void>;
}

/** The state with parts for the program's own stores. */
interface OpenedState extends PostgresState {
  readonly storage: OpenStorage;
  readonly records: RecordStorage;
}

export const LEASE_MS = 10_000;
const DAY_MS = 24 * 60 * 60_000;
const MIB = 1024 * 1024;
const ALL_RESULTS: Bounds = { entries: 20_000, size: 4_096 * MIB };
const RESULTS_OF_PRINCIPAL: Bounds = { entries: 500, size: 256 * MIB };
const ALL_KEYS: Bounds = { entries: 500_000, size: 1_024 * MIB };
const ALL_PLANS: Bounds = { entries: 20_000, size: 4_096 * MIB };
const MOST_APPROVALS = 1_000_000;

export async function openPostgresState(options: PostgresStateOptions): Promise<OpenedState> {
  const { client, table = "keyhole", secrets = [], leaseMs = LEASE_MS } = options;
  const database = openDatabase(client, stateTables(quotedNames(table, "createPostgresState")));
  const [server] = await database.query("select pg_is_in_recovery() as behind");
  if (server?.behind) throw problem("STATE_UNREACHABLE");
  await migrate(database);
  const gateway = await joinGateways(database, leaseMs);
  const open = createSqlDriver(database, database.tables.values);
  const redact = createRedact(secrets, { kinds: true });
  const results = createResultStore(open, {
    all: options.results?.all ?? ALL_RESULTS,
    perOwner: options.results?.perPrincipal ?? RESULTS_OF_PRINCIPAL,
    ttlMs: options.results?.idleMs ?? DAY_MS,
    toText: (value) => JSON.stringify(redact(value)),
  });
  const records = createPostgresRecords(database);
  const definitions = openGrants(records, "definition");
  const [secret] = await Promise.all([sharedSecret(database), definitions.refresh()]);
  const audit = new AuditLog(new StorageChains(open, gateway));
  return {
    audit,
    stores: {
      sessions: {
        ...createSessionStore(open, options.sessions),
        plans: createPlanStore(open, { all: ALL_PLANS }),
      },
      results,
      idempotency: createIdempotency(results, {
        all: ALL_KEYS,
        ...options.idempotency,
        ...{ open, redact, gateways: gateway },
      }),
      approvals: createSpentApprovals(open, { secret, most: MOST_APPROVALS }),
      pins: createPinsOver(definitions, { strict: true }),
      learning: { log: open },
    },
    consents: createConsents(openGrants(records, "program")),
    storage: open,
    records,
    close: async () => {
      // Unwritten events are lost with the process; the chain stays intact.
      await audit.close().catch(() => {});
      await gateway.close();
    },
  };
}

/** The first gateway creates the secret with which all seal approvals. */
async function sharedSecret({ tables: { counters }, query }: Database): Promise<Uint8Array> {
  const fresh = randomBytes(SECRET_BYTES).toString("hex");
  await query(`insert into ${counters} values ('approvals', 0, decode($1, 'hex')) on conflict do nothing`, [
    fresh,
  ]);
  const [row] = await query(
    `select encode(secret, 'hex') as secret from ${counters} where name = 'approvals'`,
  );
  return Buffer.from(String(row?.secret), "hex");
}
