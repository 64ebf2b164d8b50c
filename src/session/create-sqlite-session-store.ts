import type { SessionStore, SessionStoreOptions } from "./session-store.ts";

/**
 * Sessions in a file, which they outlive the process in; several processes may share it. They are forgotten
 * after a week without a call. The database is loaded here and not before.
 */
export async function createSqliteSessionStore(
  path: string,
  options: SessionStoreOptions = {},
): Promise<SessionStore> {
  const { openSqliteSessionStore } = await import("./sqlite-session-store.ts");
  return openSqliteSessionStore(path, options);
}
