// The tables: their columns, SQL that reads, and SQL that writes for callers with the scope.
import { type AnyTool, type CallContext, defineTool, type Principal, problem } from "keyhole";
import { z } from "zod";
import { readTable } from "../content/table-source.ts";
import type { Warehouse } from "../database.ts";
import type { SqlRequest } from "../free-sql/request.ts";
import { runSql } from "../free-sql/run-sql.ts";

const sql = z.string().trim().min(1).max(10_000).describe("One statement, in SQLite's dialect");

export function sqlTools(
  warehouse: Warehouse,
  tablesOf: (warehouse: Warehouse, principal: Principal) => string[],
): AnyTool[] {
  const { database } = warehouse;
  const run = (mode: SqlRequest["mode"], statement: string, context: CallContext, limit = 0) => {
    const tables = tablesOf(warehouse, context.principal);
    return runSql({ path: warehouse.path, sql: statement, tables, mode, limit }, warehouse.sqlMs, context);
  };
  return [
    defineTool({
      route: "warehouse://tools/hidden/get-columns",
      name: "Get Columns",
      description: "Names, types and meaning of a table's columns.",
      searchable: false,
      inputSchema: z.strictObject({ table: z.string().min(1).max(100) }),
      examples: [{ args: { table: "fact_orders" } }],
      execute({ table }, { principal }) {
        const tables = tablesOf(warehouse, principal);
        if (!tables.includes(table)) throw problem("NOT_FOUND", { name: `table ${table}` }, { tables });
        return readTable(database, table);
      },
    }),

    defineTool({
      route: "warehouse://tools/hidden/query",
      name: "SQL Query",
      description: "Runs one SELECT of your own against the warehouse.",
      searchable: false,
      lane: "read",
      inputSchema: z.strictObject({ sql, limit: z.int().min(1).max(1_000).default(100) }),
      examples: [
        {
          args: {
            sql: "SELECT country, count(*) AS customers FROM dim_user GROUP BY country ORDER BY country",
          },
        },
      ],
      execute: async ({ sql: statement, limit }, context) => ({
        content: await run("read", statement, context, limit),
        guidance: [{ route: "logs://tools/search-logs", prose: "Go on in the logs." }],
      }),
    }),

    defineTool({
      route: "warehouse://tools/hidden/query-write",
      name: "SQL Write",
      description:
        "Runs one INSERT, UPDATE or DELETE against the warehouse. Answers how many rows it changes.",
      searchable: false,
      lane: "destructive",
      requiredScopes: ["sql-write"],
      inputSchema: z.strictObject({ sql }),
      examples: [{ args: { sql: "UPDATE dim_user SET country = 'LU' WHERE user_id = 'u-3007'" } }],
      dryRun: ({ sql: statement }, context) => run("rehearse", statement, context),
      execute: ({ sql: statement }, context) => run("write", statement, context),
    }),
  ];
}
