/**
 * Takes a lock that the system releases when the process ends, however it ends. Returns its release, or undefined if
 * another holds it. The lock is that of an empty SQLite file, because Node has none of its own; nothing else may open
 * the file.
 */
export function holdLock(path: string): (() => void) | undefined {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    file.exec("BEGIN EXCLUSIVE");
    return () => file.close();
  } catch (error) {
    file.close();
    if ((error as { errcode?: unknown }).errcode === BUSY) return undefined;
    throw error;
  }
}

/** SQLITE_BUSY. */
const BUSY = 5;
