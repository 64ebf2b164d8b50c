// SQLite's authorizer approves each action of a statement, so its spelling does not matter.
import { constants, type DatabaseSync, type StatementSync } from "node:sqlite";
import type { SqlRequest } from "./request.ts";

const { SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_OK, SQLITE_DENY } = constants;
const WRITES = new Set([constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE]);

/** Runs `body` with the statement, or returns why it may not run. */
export function withStatement<Result>(
  database: DatabaseSync,
  { sql, tables, mode }: SqlRequest,
  body: (statement: StatementSync) => Result,
): { readonly ok: true; readonly result: Result } | { readonly ok: false; readonly reason: string } {
  const own = new Set(tables);
  let refused = "";
  let writes = false;
  const may = (action: number, name: string | null): boolean => {
    if (action === SQLITE_SELECT || action === SQLITE_FUNCTION) return true;
    if (action === SQLITE_READ || WRITES.has(action)) {
      writes ||= action !== SQLITE_READ;
      // A forbidden table is refused in SQLite's words for a missing one.
      if (!own.has(name ?? "")) refused ||= `no such table: ${name}`;
      else if (action !== SQLITE_READ && mode === "read") refused ||= "this tool only reads";
    } else refused ||= "only SELECT, INSERT, UPDATE and DELETE on tables are possible, without recursion";
    return refused === "";
  };
  database.setAuthorizer((action, name) => (may(action, name) ? SQLITE_OK : SQLITE_DENY));
  try {
    const statement = database.prepare(sql);
    if (sql.slice(statement.sourceSQL.length).trim() !== "") refused = "give one statement only";
    else if (mode !== "read" && !writes) refused = "this statement changes nothing";
    return refused === "" ? { ok: true, result: body(statement) } : { ok: false, reason: refused };
  } catch (error) {
    return { ok: false, reason: refused || (error as Error).message };
  } finally {
    database.setAuthorizer(null);
  }
}
