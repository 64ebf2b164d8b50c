// Customers, orders and transactions: an entry point that teaches, and hidden tools that its guidance unveils.
import { type DomainDefinition, defineDomain, defineTool, type Guidance, type Principal } from "keyhole";
import { z } from "zod";
import { describeTable, tableSchemaFormat } from "../content/table-schema-format.ts";
import { createTableSource, listTables, readTable } from "../content/table-source.ts";
import type { Warehouse } from "../database.ts";
import { profileOf, reviewOf } from "../profile.ts";
import { sqlTools } from "./sql-tools.ts";

const HOUR_MS = 60 * 60 * 1_000;
const day = z.iso.date();
const user = z.strictObject({ user_id: z.string().min(1).max(64).describe("Such as u-1042") });

/** The tables that exist for a caller. Only admins see those about access. */
export function tablesOf({ database }: Warehouse, { scopes }: Principal): string[] {
  const prefixes = ["fact_", "dim_", ...(scopes.includes("admin") ? ["audit_"] : [])];
  return prefixes.flatMap((prefix) => listTables(database, prefix));
}

export function createWarehouseDomain(warehouse: Warehouse): DomainDefinition {
  const { database } = warehouse;
  const extractor = (prefix: string, basePath: string, scopes: readonly string[] = []) => ({
    source: createTableSource(database, prefix),
    formats: [tableSchemaFormat],
    basePath,
    cacheTtlMs: HOUR_MS,
    scopes,
  });

  return defineDomain({
    name: "warehouse",
    description: "Data warehouse: query customers, orders, revenue and transactions.",
    rules: "Prefer the ready-made investigations to SQL of your own.",
    // Without this scope the domain does not exist. Tools and extractors add further scopes.
    requiredScopes: ["internal"],
    searchConfig: {
      queryBy: "description,name,content",
      weights: "4,2,1",
      segments: [
        { name: "columns", filter: "resource_type:=column", limit: 10, priority: 1 },
        { name: "tables", filter: "resource_type:=table", limit: 5, priority: 2 },
      ],
    },
    extractors: [
      extractor("fact_", "facts"),
      extractor("dim_", "dimensions"),
      extractor("audit_", "audit", ["admin"]),
    ],
    tools: [
      defineTool({
        route: "warehouse://tools/analyst",
        name: "Warehouse Analyst",
        description:
          "Start here to analyse or investigate customers, fraud, orders, spend, revenue and transactions. Knows the tables.",
        searchable: true,
        inputSchema: z.strictObject({
          query: z.string().min(1).max(1_000).describe("What you want to find out"),
          include_all_tables: z.boolean().default(false),
        }),
        examples: [{ args: { query: "fraud of user u-1042" } }],
        execute({ query, include_all_tables }, { principal }) {
          const all = tablesOf(warehouse, principal).map((table) =>
            describeTable(readTable(database, table)),
          );
          const words = query.toLowerCase().match(/\w{4,}/g) ?? [];
          const fitting = all.filter((text) => words.some((word) => text.toLowerCase().includes(word)));
          const tables = include_all_tables || fitting.length === 0 ? all : fitting;
          return {
            content: ["# How to work with the warehouse", ...tables].join("\n\n"),
            guidance: [
              step("user-investigation", "Profile one customer: risk, spend, what to do next. Begin here."),
              step("fincrime-review", "Look for patterns of financial crime in one customer's transfers."),
              step("revenue-breakdown", "Revenue of a period, by month, product category or country."),
              step("get-columns", "Columns of a table, before writing SQL."),
              step("query", "SQL for what the other tools do not answer."),
              // The gateway omits it for callers without the scope.
              step("query-write", "SQL that corrects data."),
            ],
          };
        },
      }),

      defineTool({
        route: "warehouse://tools/hidden/user-investigation",
        name: "User Investigation",
        description: "Profile, risk indicators and spend of one customer, and where to look next.",
        searchable: false,
        inputSchema: user,
        examples: [{ args: { user_id: "u-1042" } }],
        execute({ user_id }) {
          const profile = profileOf(database, user_id);
          const { risk_score, lifetime_spend, wallet } = profile;
          // The result decides which tools are unveiled, also in other domains, with params filled in.
          const guidance: Guidance[] = [
            { route: "logs://tools/hidden/user-activity", prose: "What the user did.", params: { user_id } },
          ];
          if (risk_score > 80) {
            guidance.push(
              step("fincrime-review", `Risk is ${risk_score}: check the transactions.`, { user_id }),
            );
          }
          if (lifetime_spend > 10_000) {
            const prose = `€${lifetime_spend} spent: a VIP, tell their account manager.`;
            guidance.push({ route: "support://tools/hidden/vip-ticket", prose, params: { user_id } });
          }
          if (wallet) {
            const prose = "Follow the money on the chain.";
            guidance.push({
              route: "blockchain://tools/hidden/address-trace",
              prose,
              params: { address: wallet },
            });
          }
          return { content: profile, guidance };
        },
      }),

      defineTool({
        route: "warehouse://tools/hidden/fincrime-review",
        name: "Fincrime Review",
        description: "Checks a customer's transfers for structuring: many just under the reporting limit.",
        searchable: false,
        inputSchema: user,
        examples: [{ args: { user_id: "u-1042" } }],
        execute({ user_id }) {
          const review = reviewOf(database, user_id);
          const guidance = review.same_device.map((other) =>
            step("user-investigation", `${other} uses the same device.`, { user_id: other }),
          );
          return { content: review, guidance };
        },
      }),

      defineTool({
        route: "warehouse://tools/hidden/revenue-breakdown",
        name: "Revenue Breakdown",
        description: "Revenue and number of orders of a period, by month, product category or country.",
        searchable: false,
        inputSchema: z.strictObject({
          start_date: day.default("2025-01-01"),
          end_date: day.default("2026-12-31").describe("The last day that counts"),
          by: z.enum(["month", "category", "country"]).default("month"),
        }),
        examples: [{ args: { start_date: "2026-01-01", end_date: "2026-03-31", by: "category" } }],
        execute({ start_date, end_date, by }) {
          const group = { month: "substr(ordered_on, 1, 7)", category: "category", country: "country" }[by];
          const sql = `SELECT ${group} AS ${by}, sum(amount) AS revenue, count(*) AS orders
            FROM fact_orders JOIN dim_user USING (user_id) JOIN dim_product USING (product_id)
            WHERE ordered_on BETWEEN ? AND ? GROUP BY 1 ORDER BY 1`;
          const breakdown = database.prepare(sql).all(start_date, end_date);
          const total = breakdown.reduce((sum, { revenue }) => sum + Number(revenue), 0);
          return { start_date, end_date, total, breakdown };
        },
      }),

      ...sqlTools(warehouse, tablesOf),
    ],
  });
}

function step(tool: string, prose: string, params?: Record<string, unknown>): Guidance {
  return { route: `warehouse://tools/hidden/${tool}`, prose, ...(params && { params }) };
}
