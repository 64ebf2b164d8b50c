import type { SessionStore, SessionStoreOptions } from "./session-store.ts";

/**
 * Opens a store that keeps sessions, and the plans of scripts, in a SQLite file, which several processes may share.
 * Sessions are forgotten after a week without a call, plans after a day. Loads the database on first use. See {@link GatewayOptions}.
 *
 * @example
 * ```ts
 * import { createGateway, createSqliteSessionStore } from "keyhole";
 *
 * const sessions = await createSqliteSessionStore("sessions.db");
 * const gateway = createGateway({ domains: [], sessions });
 * console.log(await gateway.openSession());
 * await gateway.close();
 * sessions.close();
 * ```
 */
export async function createSqliteSessionStore(
  path: string,
  options: SessionStoreOptions = {},
): Promise<SessionStore> {
  const { openSqliteSessionStore } = await import("./sqlite-session-store.ts");
  const { openSqlitePlanStore } = await import("./sqlite-plan-store.ts");
  const sessions = openSqliteSessionStore(path, options);
  const plans = openSqlitePlanStore(path);
  return {
    ...sessions,
    plans,
    close: () => {
      plans.close();
      sessions.close();
    },
  };
}
