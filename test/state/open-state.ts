import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { createPins, type GatewayOptions } from "keyhole";
import { createPostgresState, type PostgresStateOptions } from "keyhole/postgres";
import pg from "pg";
import { onTestFinished } from "vitest";
import { type Consents, createConsents } from "../../src/core/access/consents.ts";
import { openGrantsNow } from "../../src/core/access/grants.ts";
import { createPinsOver } from "../../src/core/access/pins.ts";
import { createDiskResultStore } from "../../src/core/storage/disk-result-store.ts";
import { createIdempotency } from "../../src/core/storage/idempotency.ts";
import { createPlanStore, type PlanStore } from "../../src/core/storage/plan-store.ts";
import { openRecordFile } from "../../src/core/storage/record-file.ts";
import { createResultStore } from "../../src/core/storage/result-store.ts";
import { createSessionStore, createSqliteSessionStore } from "../../src/core/storage/session-store.ts";
import { createSpentApprovals } from "../../src/core/storage/spent-approvals.ts";
import { openSqliteStorage } from "../../src/core/storage/sql-storage.ts";
import { LearningLog } from "../../src/search/learning/learning-log.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export type StateOptions = Pick<PostgresStateOptions, "sessions" | "results" | "idempotency" | "leaseMs">;

type Stores = Required<
  Pick<GatewayOptions, "sessions" | "results" | "idempotency" | "approvals" | "pins">
> & {
  readonly plans: PlanStore;
  readonly log: LearningLog;
  /** Absent if consents cannot be kept there. */
  readonly consents?: Consents<boolean> | Consents<Promise<boolean>>;
};

/** The stores of one gateway. `close` leaves the others. */
export interface OpenState extends Stores {
  close(): Promise<void>;
}

/** One state. Each call of `open` gives another gateway's stores over it, if it can be shared. */
export interface Shared {
  open(options?: StateOptions): Promise<OpenState>;
}

export interface StateKind {
  readonly name: string;
  /** Several gateways can share all of it. */
  readonly shared: boolean;
  create(): Promise<Shared>;
}

export const MEMORY: StateKind = {
  name: "memory",
  shared: false,
  create: async () => ({
    open: async ({ sessions, idempotency } = {}) => {
      const results = createResultStore();
      return {
        sessions: createSessionStore(undefined, sessions),
        results,
        idempotency: createIdempotency(results, idempotency),
        plans: createPlanStore(),
        approvals: createSpentApprovals(),
        pins: createPins(),
        log: new LearningLog(),
        close: async () => {},
      };
    },
  }),
};

export const FILES: StateKind = {
  name: "files",
  shared: false,
  create: async () => {
    const folder = temporaryFolder();
    return {
      open: async ({ sessions: options = {}, idempotency } = {}) => {
        const sessions = await createSqliteSessionStore(join(folder, "state.db"), options);
        const learned = openSqliteStorage(join(folder, "learning.db"));
        onTestFinished(() => {
          sessions.close();
          learned.close();
        });
        const results = createDiskResultStore({ path: join(folder, "results"), maxChars: 2_000_000 });
        const records = openRecordFile(join(folder, "approvals.db"));
        return {
          sessions,
          results,
          idempotency: createIdempotency(results, idempotency),
          plans: sessions.plans!,
          approvals: createSpentApprovals(),
          pins: createPinsOver(openGrantsNow(records, "definition"), { strict: true }),
          log: new LearningLog(learned.open),
          consents: createConsents<boolean>(openGrantsNow(records, "program")),
          close: async () => {},
        };
      },
    };
  },
};

let tables = 0;

/** PostgreSQL by any client. Each state has tables of its own. */
function postgresKind(name: string, clientOf: () => PostgresStateOptions["client"]): StateKind {
  return {
    name,
    shared: true,
    create: async () => {
      tables += 1;
      const table = `t${process.pid}_${tables}`;
      return {
        open: async (options = {}) => {
          const state = await createPostgresState({ client: clientOf(), table, ...options });
          let closed = false;
          const close = async () => {
            if (!closed) await state.close();
            closed = true;
          };
          onTestFinished(close);
          const log = new LearningLog(state.stores.learning.log);
          const plans = state.stores.sessions.plans!;
          return { ...state.stores, plans, log, consents: state.consents, close };
        },
      };
    },
  };
}

let inProcess: PGlite | undefined;
export const PGLITE = postgresKind("PostgreSQL in process", () => {
  inProcess ??= new PGlite();
  return inProcess;
});

export async function closePostgres(): Promise<void> {
  await inProcess?.close();
  await pool?.end();
  // Another test file of the same process opens its own.
  inProcess = undefined;
  pool = undefined;
}

let pool: pg.Pool | undefined;
const url = process.env.KEYHOLE_POSTGRES_URL ?? "";
export const NO_SERVER = "skipped: KEYHOLE_POSTGRES_URL is not set; scripts/start-postgres.sh gives one";

/** A PostgreSQL server, if there is one. */
export const SERVER: StateKind | undefined =
  url === ""
    ? undefined
    : postgresKind("PostgreSQL server", () => {
        pool ??= new pg.Pool({ connectionString: url, max: 10 });
        return pool;
      });
