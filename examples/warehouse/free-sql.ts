// SQL that an agent wrote. SQLite itself is asked, action by action, whether the statement may do that, so it
// does not matter how the statement is spelled.
import { constants, type DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { isProblem, problem } from "keyhole";

export interface Rights {
  /** The tables that exist for this caller. */
  readonly tables: (name: string) => boolean;
  readonly write: boolean;
}

export interface Rows {
  readonly rows: readonly Readonly<Record<string, SQLInputValue>>[];
  /** Whether there are more than were asked for. */
  readonly more: boolean;
}

const { SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_OK, SQLITE_DENY } = constants;
const WRITES = new Set([constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE]);

/** Runs one statement that reads. */
export function readSql(database: DatabaseSync, sql: string, tables: Rights["tables"], limit: number): Rows {
  return guarded(database, sql, { tables, write: false }, (statement) => {
    const rows: Rows["rows"][number][] = [];
    for (const row of statement.iterate()) {
      if (rows.length === limit) return { rows, more: true };
      rows.push({ ...row } as Rows["rows"][number]);
    }
    return { rows, more: false };
  });
}

/** Runs one statement that inserts, updates or deletes; dry, it is undone. */
export function writeSql(
  database: DatabaseSync,
  sql: string,
  tables: Rights["tables"],
  dry: boolean,
): { changed_rows: number } {
  database.exec("BEGIN IMMEDIATE");
  let end = "ROLLBACK";
  try {
    const { changes } = guarded(database, sql, { tables, write: true }, (statement) => statement.run());
    if (!dry) end = "COMMIT";
    return { changed_rows: Number(changes) };
  } finally {
    database.exec(end);
  }
}

function guarded<Result>(
  database: DatabaseSync,
  sql: string,
  rights: Rights,
  body: (statement: StatementSync) => Result,
): Result {
  let refused = "";
  let writes = false;
  const may = (action: number, name: string | null): boolean => {
    if (action === SQLITE_SELECT) return true;
    if (action === SQLITE_FUNCTION) return true;
    // A table that is not the caller's is refused in the words that SQLite has for one that is not there.
    if (action === SQLITE_READ || WRITES.has(action)) {
      if (!rights.tables(name ?? "")) refused ||= `no such table: ${name}`;
      else if (action !== SQLITE_READ && !rights.write) refused ||= "this tool only reads";
      writes ||= action !== SQLITE_READ;
    } else refused ||= "only SELECT, INSERT, UPDATE and DELETE on tables are possible, without recursion";
    return refused === "";
  };
  database.setAuthorizer((action, name) => (may(action, name) ? SQLITE_OK : SQLITE_DENY));
  try {
    const statement = database.prepare(sql);
    if (sql.slice(statement.sourceSQL.length).trim() !== "") throw wrong("give one statement only");
    if (rights.write && !writes) throw wrong("this statement changes nothing");
    return body(statement);
  } catch (error) {
    if (isProblem(error)) throw error;
    throw wrong(refused || (error as Error).message);
  } finally {
    database.setAuthorizer(null);
  }
}

function wrong(message: string) {
  return problem("INVALID_PARAMS", { name: "the SQL" }, { field_errors: [{ field: "sql", message }] });
}
