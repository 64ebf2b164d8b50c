import type { SessionStore, SessionStoreOptions } from "./session-store.ts";

/**
 * Opens a store that keeps sessions in a SQLite file, which several processes may share. Sessions are forgotten
 * after a week without a call. Loads the database on first use. See {@link GatewayOptions}.
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
  return openSqliteSessionStore(path, options);
}
