// The content source: the tables that the database really has, by a prefix of their names.
import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { type ContentSource, problem } from "keyhole";

export interface TableSchema {
  readonly table: string;
  readonly about: string;
  readonly columns: readonly ColumnSchema[];
}

export interface ColumnSchema {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly about: string;
}

export const TABLE_SCHEMA = "table-schema";

export function createTableSource(database: DatabaseSync, prefix: string): ContentSource {
  return {
    name: `tables ${prefix}*`,
    isLocal: true,
    listDocuments: async () =>
      listTables(database, prefix).map((table) => ({
        id: table,
        name: table,
        contentType: TABLE_SCHEMA,
        version: createHash("sha256").update(definitionOf(database, table)).digest("hex"),
      })),
    fetchContent: async (table) => ({
      id: table,
      name: table,
      contentType: TABLE_SCHEMA,
      content: JSON.stringify(readTable(database, table)),
    }),
  };
}

export function listTables(database: DatabaseSync, prefix: string): string[] {
  const sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?) = ? ORDER BY name";
  return database
    .prepare(sql)
    .all(prefix.length, prefix)
    .map(({ name }) => String(name));
}

export function readTable(database: DatabaseSync, table: string): TableSchema {
  const comments = commentsIn(definitionOf(database, table));
  const columns = database.prepare("SELECT * FROM pragma_table_info(?) ORDER BY cid").all(table);
  return {
    table,
    about: comments.get("CREATE") ?? "",
    columns: columns.map(({ name, type, notnull, pk }) => ({
      name: String(name),
      type: String(type),
      required: Boolean(notnull) || Boolean(pk),
      about: comments.get(String(name)) ?? "",
    })),
  };
}

function definitionOf(database: DatabaseSync, table: string): string {
  const row = database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table);
  if (!row) throw problem("NOT_FOUND", { name: `table ${table}` });
  return String(row.sql);
}

/** Maps the first word of each line of a table's definition to the line's comment. */
function commentsIn(definition: string): Map<string, string> {
  return new Map(
    definition.split("\n").map((line) => {
      const [code = "", ...comment] = line.split("--");
      return [code.trim().split(" ")[0] ?? "", comment.join("--").trim()];
    }),
  );
}
