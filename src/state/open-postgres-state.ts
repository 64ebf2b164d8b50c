import { consentSchema, createConsentsOver } from "../access/consents.ts";
import { approvalSchema } from "../access/pin-store.ts";
import { createPinsOver } from "../access/pins.ts";
import { problem } from "../schema/problem.ts";
import { quotedNames } from "../schema/quoted-names.ts";
import { openDatabase, stateTables } from "./database.ts";
import { joinGateways } from "./gateways.ts";
import { migrate } from "./migrate.ts";
import { createPostgresApprovals } from "./postgres-approvals.ts";
import { createPostgresAudit } from "./postgres-audit.ts";
import { createPostgresIdempotency } from "./postgres-idempotency.ts";
import { createPostgresLearning } from "./postgres-learning.ts";
import { createPostgresRecords } from "./postgres-records.ts";
import { createPostgresResults } from "./postgres-results.ts";
import { createPostgresSessions } from "./postgres-sessions.ts";
import type { PostgresState, PostgresStateOptions } from "./postgres-state-api.ts";

const LEASE_MS = 10_000;

/** Implements {@link createPostgresState}. */
export async function openPostgresState(options: PostgresStateOptions): Promise<PostgresState> {
  const { client, table = "keyhole", secrets = [], leaseMs = LEASE_MS } = options;
  const database = openDatabase(client, stateTables(quotedNames(table, "createPostgresState")));
  const [server] = await database.query("select pg_is_in_recovery() as behind");
  if (server?.behind) throw problem("STATE_UNREACHABLE");
  await migrate(database);
  const gateway = await joinGateways(database, leaseMs);
  const results = createPostgresResults(database, { ...options.results, secrets });
  const [approvals, approved, consented, log] = await Promise.all([
    createPostgresApprovals(database),
    createPostgresRecords(database, "pins", approvalSchema),
    createPostgresRecords(database, "consents", consentSchema),
    createPostgresLearning(database, gateway.id),
  ]);
  const audit = createPostgresAudit(database, gateway);
  return {
    audit,
    stores: {
      sessions: createPostgresSessions(database, options.sessions),
      results,
      idempotency: createPostgresIdempotency(database, gateway, results, { ...options.idempotency, secrets }),
      approvals,
      pins: createPinsOver(approved, { shared: true, strict: true }),
      learning: { log },
    },
    consents: createConsentsOver(consented, async ({ hash }) => {
      await consented.refresh();
      return consented.get(hash) !== undefined;
    }),
    close: async () => {
      // Events that cannot be written are lost with the process; the chain stays intact.
      await audit.close().catch(() => {});
      await log.close();
      await gateway.close();
    },
  };
}
