import { type DomainDefinition, defineDomain, defineResource, defineTool, type Principal } from "keyhole";
import { z } from "zod";

/** Records the calls of the shop's tools, for tests that check what ran. */
export interface Calls {
  readonly made: { readonly tool: string; readonly params: unknown }[];
}

export const clerk: Principal = { id: "clerk", scopes: [], allowWrite: true };
export const reader: Principal = { id: "reader", scopes: [], allowWrite: false };
export const auditor: Principal = { id: "auditor", scopes: ["audit"], allowWrite: false };

/** A small shop: tools of every lane and visibility, one behind a scope, and a document. */
export function createShop(): { domains: DomainDefinition[]; calls: Calls } {
  const calls: Calls = { made: [] };
  const record = (tool: string, params: unknown) => calls.made.push({ tool, params });
  const shop = defineDomain({
    name: "shop",
    description: "Orders and customers of a small shop.",
    rules: { orders: "Search for the order before you change it." },
    tools: [
      defineTool({
        name: "list_orders",
        description: "List orders, newest first.",
        category: "orders",
        phrases: ["show purchases"],
        inputSchema: z.object({
          state: z.enum(["open", "paid", "sent"]).optional(),
          limit: z.int().min(1).max(100).default(10),
        }),
        execute: (params) => ({ orders: Array.from({ length: params.limit }, (_, id) => ({ id })) }),
      }),
      defineTool({
        name: "create_order",
        description: "Create an order for a customer. Prices are taken from the list.",
        category: "orders",
        relatedTools: ["list_orders"],
        inputSchema: {
          type: "object",
          properties: {
            customer: { type: "string", description: "Customer id" },
            count: { type: "integer", minimum: 1, maximum: 9 },
          },
          required: ["customer"],
          additionalProperties: false,
        },
        execute: (params) => {
          record("create_order", params);
          return { id: calls.made.length, customer: params.customer };
        },
      }),
      defineTool({
        name: "delete_order",
        description: "Delete an order for good.",
        category: "orders",
        inputSchema: z.object({ id: z.int() }),
        dryRun: ({ id }) => ({ would_delete: id }),
        execute: (params) => {
          record("delete_order", params);
          return { deleted: params.id };
        },
      }),
      defineTool({
        name: "send_refund",
        description: "Send money back to a customer.",
        requiresConfirmation: true,
        inputSchema: z.object({ customer: z.string(), cents: z.int().positive() }),
        execute: (params) => {
          record("send_refund", params);
          return "sent";
        },
      }),
      defineTool({
        route: "shop://tools/clerk-guide",
        name: "Clerk guide",
        description: "How to work with orders, and where to go on.",
        searchable: true,
        execute: () => ({
          content: "Look up the ledger for money questions.",
          guidance: [
            { route: "shop://tools/hidden/ledger", prose: "All bookings", params: { year: 2026 } },
            { route: "audit://tools/report", prose: "The audit report" },
          ],
        }),
      }),
      defineTool({
        route: "shop://tools/hidden/ledger",
        name: "Ledger",
        description: "All bookings of a year.",
        searchable: false,
        inputSchema: z.object({ year: z.int() }),
        execute: ({ year }) => `Bookings of ${year}`,
      }),
    ],
    resources: [
      defineResource({
        route: "shop://resources/manual",
        name: "Manual",
        description: "The manual of the till and the label printer.",
        fetch: () => "Press the green button.",
      }),
    ],
  });
  const audit = defineDomain({
    name: "audit",
    description: "For auditors only.",
    requiredScopes: ["audit"],
    tools: [
      defineTool({
        route: "audit://tools/report",
        name: "Audit report",
        description: "The audit report with irregular bookings.",
        searchable: true,
        execute: () => "Nothing irregular.",
      }),
    ],
  });
  return { domains: [shop, audit], calls };
}
