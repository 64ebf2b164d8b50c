import type { PostgresState, PostgresStateOptions } from "./open-postgres-state.ts";

/**
 * Stores the state of a gateway in PostgreSQL, so that several gateways behind one address act as one. Creates missing
 * tables. Each gateway needs its own state object.
 *
 * @throws INVALID_INPUT if `table` is not a plain name; STATE_UNREACHABLE if the database does not answer, or is a
 * replica
 * @example
 * ```ts no-run
 * import { createGateway } from "keyhole";
 * import { createPostgresState } from "keyhole/postgres";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * const state = await createPostgresState({ client: pool });
 * const gateway = createGateway({ domains: [], ...state.stores });
 * await gateway.close();
 * await state.close();
 * await pool.end();
 * ```
 */
export async function createPostgresState(options: PostgresStateOptions): Promise<PostgresState> {
  const { openPostgresState } = await import("./open-postgres-state.ts");
  return openPostgresState(options);
}
