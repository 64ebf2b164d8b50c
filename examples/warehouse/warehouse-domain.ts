// One domain in full: an entry point that teaches, and hidden tools that its guidance unveils.
import { defineDomain, defineResource, defineTool, type Guidance } from "keyhole";
import { z } from "zod";
import { REPORTING_LIMIT, TABLES, type TableName, warehouse } from "./data.ts";
import { profileOf, transfersJustUnderLimit } from "./profile.ts";

const TABLE_NAMES = Object.keys(TABLES) as TableName[];

const analyst = defineTool({
  route: "warehouse://tools/analyst",
  name: "Warehouse Analyst",
  description: "Start here to analyse or investigate customers, fraud, orders, revenue and transactions.",
  searchable: true,
  inputSchema: z.object({
    query: z.string().describe("What you want to find out"),
    include_all_tables: z.boolean().default(false),
  }),
  execute({ query, include_all_tables }) {
    const tables = include_all_tables ? TABLE_NAMES : tablesFor(query);
    return {
      content: ["# How to work with the warehouse", ...tables.map(describeTable)].join("\n\n"),
      guidance: [
        { route: "warehouse://tools/hidden/user-investigation", prose: "Profile one customer; begin here." },
        { route: "warehouse://tools/hidden/fincrime-review", prose: "Look for patterns of financial crime." },
        { route: "warehouse://tools/hidden/revenue-breakdown", prose: "Revenue by month or year." },
        { route: "warehouse://tools/hidden/get-columns", prose: "Columns of a table, before writing SQL." },
        { route: "warehouse://tools/hidden/query", prose: "SQL for what the other tools do not answer." },
      ],
    };
  },
});

const userInvestigation = defineTool({
  route: "warehouse://tools/hidden/user-investigation",
  name: "User Investigation",
  description: "Risk, spend and wallet of one customer, and where to look next.",
  searchable: false,
  inputSchema: z.object({ user_id: z.string() }),
  execute({ user_id }) {
    const profile = profileOf(user_id);
    const { risk, lifetime_spend, wallet } = profile;
    // What was found decides what is unveiled, in other domains too, with the params already filled in.
    const guidance: Guidance[] = [
      { route: "logs://tools/hidden/user-activity", prose: "What the user did.", params: { user_id } },
    ];
    if (risk > 80) {
      const prose = `Risk is ${risk}: check the transactions.`;
      guidance.push({ route: "warehouse://tools/hidden/fincrime-review", prose, params: { user_id } });
    }
    if (lifetime_spend > 10_000) {
      const prose = `€${lifetime_spend} spent: a VIP, tell their account manager.`;
      guidance.push({ route: "support://tools/hidden/vip-ticket", prose, params: { user_id } });
    }
    if (wallet) {
      const prose = "Follow the money on the chain.";
      guidance.push({ route: "blockchain://tools/hidden/address-trace", prose, params: { address: wallet } });
    }
    return { content: profile, guidance };
  },
});

const fincrimeReview = defineTool({
  route: "warehouse://tools/hidden/fincrime-review",
  name: "Fincrime Review",
  description: "Checks a customer's transactions for structuring: many just under the reporting limit.",
  searchable: false,
  inputSchema: z.object({ user_id: z.string() }),
  execute({ user_id }) {
    const { count, total } = transfersJustUnderLimit(user_id);
    const pattern = count >= 5 ? "structuring" : "none";
    return { user_id, limit: REPORTING_LIMIT, just_under_limit: count, total, pattern };
  },
});

const revenueBreakdown = defineTool({
  route: "warehouse://tools/hidden/revenue-breakdown",
  name: "Revenue Breakdown",
  description: "Revenue by month or by year.",
  searchable: false,
  inputSchema: z.object({ period: z.enum(["month", "year"]).default("month") }),
  execute({ period }) {
    const sql =
      "SELECT substr(ordered_on, 1, ?) AS period, sum(amount) AS revenue FROM fact_orders GROUP BY 1";
    return warehouse.prepare(sql).all(period === "month" ? 7 : 4);
  },
});

const getColumns = defineTool({
  route: "warehouse://tools/hidden/get-columns",
  name: "Get Columns",
  description: "Names and types of a table's columns.",
  searchable: false,
  inputSchema: z.object({ table: z.enum(TABLE_NAMES) }),
  execute: ({ table }) => TABLES[table].columns,
});

const query = defineTool({
  route: "warehouse://tools/hidden/query",
  name: "SQL Query",
  description: "Runs one SELECT against the warehouse (SQLite).",
  searchable: false,
  requiredScopes: ["analytics"],
  inputSchema: z.object({ sql: z.string().max(10_000) }),
  execute: ({ sql }) => warehouse.prepare(sql).all(),
});

export const warehouseDomain = defineDomain({
  name: "warehouse",
  description: "Customers, orders and transactions.",
  rules: "Prefer the ready-made investigations to SQL of your own.",
  tools: [analyst, userInvestigation, fincrimeReview, revenueBreakdown, getColumns, query],
  resources: TABLE_NAMES.map((table) =>
    defineResource({
      route: `warehouse://resources/tables/${table}`,
      name: table,
      description: TABLES[table].about,
      fetch: () => describeTable(table),
    }),
  ),
});

/** The tables that share a word with the question; all of them if none does. */
function tablesFor(question: string): TableName[] {
  const words = question.toLowerCase().match(/\w{4,}/g) ?? [];
  const fitting = TABLE_NAMES.filter((table) => words.some((word) => describeTable(table).includes(word)));
  return fitting.length > 0 ? fitting : TABLE_NAMES;
}

function describeTable(table: TableName): string {
  const columns = Object.entries(TABLES[table].columns).map(([column, type]) => `- ${column}: ${type}`);
  return [`## ${table}`, TABLES[table].about, ...columns].join("\n");
}
