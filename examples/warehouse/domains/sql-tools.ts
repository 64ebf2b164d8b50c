// The tables themselves: their columns, SQL that reads, and SQL that writes for those who have the scope.
import { type AnyTool, defineTool, type Principal, problem } from "keyhole";
import { z } from "zod";
import { readTable } from "../content/table-source.ts";
import type { Warehouse } from "../database.ts";
import { readSql, writeSql } from "../free-sql.ts";

const sql = z.string().trim().min(1).max(10_000).describe("One statement, in SQLite's dialect");

export function sqlTools(
  warehouse: Warehouse,
  tablesOf: (warehouse: Warehouse, principal: Principal) => string[],
): AnyTool[] {
  const { database } = warehouse;
  const rightsOf = (principal: Principal) => {
    const tables = new Set(tablesOf(warehouse, principal));
    return (name: string) => tables.has(name);
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
      execute: ({ sql: statement, limit }, { principal }) => ({
        content: readSql(database, statement, rightsOf(principal), limit),
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
      dryRun: ({ sql: statement }, { principal }) => writeSql(database, statement, rightsOf(principal), true),
      execute: ({ sql: statement }, { principal }) =>
        writeSql(database, statement, rightsOf(principal), false),
    }),
  ];
}
