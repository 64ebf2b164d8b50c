import type { Consents } from "../access/consents.ts";
import type { Pins } from "../access/pins.ts";
import type { AuditStore } from "../audit/audit-store.ts";
import type { PostgresClient } from "../schema/postgres-client.ts";
import type { LearningOptions } from "../search/learning/learning.ts";
import type { Idempotency } from "../session/idempotency.ts";
import type { ResultStore } from "../session/result-store.ts";
import type { SessionStore, SessionStoreOptions } from "../session/session-store.ts";
import type { SpentApprovals } from "../session/spent-approvals.ts";
import type { PostgresIdempotencyOptions } from "./postgres-idempotency.ts";
import type { PostgresResultsOptions } from "./postgres-results.ts";

/** Options of {@link createPostgresState}. */
export interface PostgresStateOptions {
  /** A pool of `pg` on the primary, or anything with its `query`. The state does not end it. */
  readonly client: PostgresClient;
  /** Prefix of all tables, with or without a schema. Gateways that use the same one share the state. Default: `keyhole`. */
  readonly table?: string;
  /** Texts that must not be written, beside those that look like secrets. */
  readonly secrets?: readonly string[];
  /** How long a gateway counts as alive after it was last seen. Default: 10 seconds. */
  readonly leaseMs?: number;
  readonly sessions?: Pick<SessionStoreOptions, "maxSessions" | "idleMs">;
  readonly results?: Pick<PostgresResultsOptions, "all" | "perPrincipal" | "idleMs">;
  readonly idempotency?: Pick<PostgresIdempotencyOptions, "all" | "perPrincipal">;
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
    readonly learning: LearningOptions;
  };
  /** Keeps the audit log: pass it as `audit: { store: state.audit }`. */
  readonly audit: AuditStore;
  /** Consents to start servers, for `mayStart` of their sources. */
  readonly consents: Consents<Promise<boolean>>;
  /** Leaves the other gateways. Close the gateway first. */
  close(): Promise<void>;
}
