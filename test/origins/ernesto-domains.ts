// The domains of the document about routes and guidance (Ernesto), as it defines them.
import {
  type AnyTool,
  type ContentPipeline,
  createGateway,
  type DomainDefinition,
  defineResource,
  type Gateway,
  type GatewayOptions,
  type Guidance,
  type Principal,
} from "keyhole";
import { contentFormats } from "keyhole/sources";
import { onTestFinished } from "vitest";
import { z } from "zod";

export const ANALYST = "warehouse://tools/analyst";
export const QUERY = "warehouse://tools/hidden/query";
export const INVESTIGATION = "warehouse://tools/hidden/user-investigation";

const ORDER_COLUMNS = [
  ["order_id", "Unique order identifier"],
  ["user_id", "User who placed the order"],
  ["product_id", "Product of the order"],
  ["amount", "Amount of the order in euros"],
  ["currency", "Currency of the order"],
  ["status", "Status of the order"],
  ["ordered_on", "Day of the order"],
  ["shipped_on", "Day when the order was shipped"],
  ["channel", "Channel of the order"],
  ["discount", "Discount on the order"],
  ["country", "Country of the order"],
  ["note", "Note on the order"],
] as const;

const TABLES = [
  { name: "fact_orders", comment: "Order transactions", columns: ORDER_COLUMNS },
  {
    name: "fact_refunds",
    comment: "Refunds of orders",
    columns: [["refund_id", "Unique refund identifier"]],
  },
  { name: "dim_user", comment: "Users", columns: [["user_id", "Unique user identifier"]] },
] as const;

/** `new WarehouseSource({ tablePattern })` of the document. */
export class WarehouseSource {
  readonly name: string;
  private readonly tablePattern: RegExp;

  constructor({ tablePattern }: { readonly tablePattern: RegExp }) {
    this.name = `warehouse ${tablePattern.source}`;
    this.tablePattern = tablePattern;
  }

  async listDocuments() {
    return TABLES.filter(({ name }) => this.tablePattern.test(name)).map(({ name }) => ({
      id: name,
      name,
      contentType: "table-schema",
    }));
  }

  async fetchContent(id: string) {
    const table = TABLES.find(({ name }) => name === id)!;
    const columns = table.columns.map(([name, comment]) => ({ name, comment, type: "text" }));
    const content = JSON.stringify({ name: table.name, comment: table.comment, columns });
    return { id, name: id, contentType: "table-schema", content };
  }
}

const SEARCH_CONFIG = {
  queryBy: "description,name,content",
  weights: "4,2,1",
  segments: [
    { name: "columns", filter: "resource_type:=column", limit: 10, priority: 1 },
    { name: "tables", filter: "resource_type:=table", limit: 5, priority: 2 },
  ],
};

export function createWarehouse(changes: Partial<DomainDefinition> = {}): DomainDefinition {
  const pipeline = (tablePattern: RegExp, basePath: string): ContentPipeline => ({
    source: new WarehouseSource({ tablePattern }),
    formats: [contentFormats.tableSchema()],
    basePath,
    cacheTtlMs: 1000 * 60 * 60,
  });
  return {
    name: "warehouse",
    description: "Data warehouse access - query orders, users, analytics",
    tools: [analystTool, queryTool, userInvestigationTool, revenueBreakdownTool, getColumnsTool, reviewTool],
    extractors: [pipeline(/^fact_/, "facts"), pipeline(/^dim_/, "dimensions")],
    searchConfig: SEARCH_CONFIG,
    ...changes,
  };
}

const analystTool: AnyTool = {
  route: ANALYST,
  name: "Warehouse Analyst",
  description: "Intelligent analyst with schema knowledge",
  searchable: true,
  inputSchema: z.object({ query: z.string().optional(), include_all_tables: z.boolean().optional() }),
  async execute() {
    return {
      content: "# Analyst Guide\n\nAvailable tables: fact_orders, dim_user...",
      guidance: [
        { route: QUERY, prose: "Execute custom SQL against the warehouse" },
        { route: INVESTIGATION, prose: "Deep-dive on a specific user" },
        { route: "warehouse://tools/hidden/revenue-breakdown", prose: "Revenue analysis by period" },
      ],
    };
  },
};

const queryTool: AnyTool = {
  route: QUERY,
  name: "SQL Query",
  description: "Execute SQL against the warehouse",
  searchable: false,
  requiredScopes: ["sql-write"],
  lane: "read",
  inputSchema: z.object({ sql: z.string() }),
  async execute() {
    return { content: "| order_id |\n|---|\n| 1 |", guidance: [] };
  },
};

const userInvestigationTool: AnyTool = {
  route: INVESTIGATION,
  name: "User Investigation",
  description: "Deep-dive investigation on a user",
  searchable: false,
  inputSchema: z.object({ user_id: z.string() }),
  async execute({ user_id }) {
    const data =
      user_id === "X" ? { riskScore: 85, lifetimeSpend: 8_500 } : { riskScore: 10, lifetimeSpend: 12_000 };
    const guidance: Guidance[] = [
      { route: "logs://tools/hidden/user-activity", prose: "View activity logs" },
    ];
    if (data.riskScore > 80) {
      guidance.push({
        route: "warehouse://tools/hidden/fincrime-review",
        prose: `High risk score (${data.riskScore}). Investigate patterns.`,
      });
    }
    if (data.lifetimeSpend > 10_000) {
      guidance.push({
        route: "support://tools/hidden/vip-ticket",
        prose: `VIP user (€${data.lifetimeSpend}). Escalate if needed.`,
      });
    }
    return { content: "## User Profile\n- High risk score...", guidance };
  },
};

function contentOnlyTool(route: string, name: string, description: string): AnyTool {
  return {
    route,
    name,
    description,
    searchable: false,
    lane: "read",
    execute: async () => ({ content: `# ${name}` }),
  };
}

const revenueBreakdownTool = contentOnlyTool(
  "warehouse://tools/hidden/revenue-breakdown",
  "Revenue Breakdown",
  "Revenue analysis by period",
);
const getColumnsTool = contentOnlyTool(
  "warehouse://tools/hidden/get-columns",
  "Get Columns",
  "Columns of a table",
);
const reviewTool = contentOnlyTool(
  "warehouse://tools/hidden/fincrime-review",
  "Fincrime Review",
  "Financial crime patterns",
);

export const LOGS: DomainDefinition = {
  name: "logs",
  description: "Application logging and error tracking",
  tools: [
    {
      ...contentOnlyTool("logs://tools/investigator", "Log Investigator", "Log investigation with Scalyr"),
      searchable: true,
    },
    contentOnlyTool("logs://tools/hidden/user-activity", "User Activity", "Activity of one user"),
  ],
};

export const SUPPORT: DomainDefinition = {
  name: "support",
  description: "Tickets of customers",
  tools: [contentOnlyTool("support://tools/hidden/vip-ticket", "VIP Ticket", "Escalate for a VIP")],
};

/** A domain whose own words could drown those of its tools. */
export const TASKS: DomainDefinition = {
  name: "onto",
  description: "Task management: tasks, task lists, task plans and all about a task.",
  tools: [
    { name: "create_plan", description: "Create a plan.", execute: () => "" },
    { name: "create_task", description: "Create a task.", execute: () => "" },
    { name: "create_goal", description: "Create a goal.", execute: () => "" },
    { name: "list_tasks", description: "List tasks.", execute: () => "" },
  ],
};

/** All domains of the document. */
export const ALL = [createWarehouse(), LOGS, SUPPORT];

export const ALICE: Principal = { id: "alice", scopes: ["sql-write"], allowWrite: true };

/** A gateway that closes with its test. */
export function open(domains: readonly DomainDefinition[], options: Partial<GatewayOptions> = {}): Gateway {
  const gateway = createGateway({ principal: ALICE, learning: false, ...options, domains });
  onTestFinished(() => gateway.close());
  return gateway;
}

/** A document of the domain `library`. */
export function document(path: string, description: string, metadata: Record<string, unknown> = {}) {
  return defineResource({
    route: `library://resources/${path}`,
    name: path,
    description,
    metadata,
    fetch: () => ({ content: `# ${path}` }),
  });
}
