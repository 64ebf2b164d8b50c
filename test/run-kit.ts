import { createGateway, defineDomain, defineTool, type GatewayOptions, type Principal } from "keyhole";
import { z } from "zod";

export const writer: Principal = { id: "writer", scopes: [], allowWrite: true };
export const reader: Principal = { id: "reader", scopes: [], allowWrite: false };

/** A shop whose orders a test can look at. `log` has every effect that took place. */
export function createShop() {
  const orders = new Map([1, 2, 3].map((id) => [id, { id, customer: `c${id}`, total: id * 10 }]));
  const log: string[] = [];
  const id = z.object({ id: z.number() });
  const domain = defineDomain({
    name: "shop",
    description: "Orders of a shop.",
    tools: [
      defineTool({
        name: "list_orders",
        description: "List orders.",
        execute: () => ({ items: [...orders.values()] }),
      }),
      defineTool({
        name: "get_order",
        description: "Get one order.",
        inputSchema: id,
        execute: (params) => orders.get(params.id) ?? null,
      }),
      defineTool({
        name: "create_order",
        description: "Create an order.",
        inputSchema: z.object({ customer: z.string() }),
        execute: ({ customer }) => {
          const made = { id: orders.size + 1, customer, total: 0 };
          orders.set(made.id, made);
          log.push(`create ${customer}`);
          return made;
        },
      }),
      defineTool({
        name: "delete_order",
        description: "Delete an order.",
        inputSchema: id,
        execute: (params) => {
          orders.delete(params.id);
          log.push(`delete ${params.id}`);
          return { gone: params.id };
        },
        dryRun: (params) => ({ would_delete: params.id }),
      }),
      defineTool({
        name: "pay_order",
        description: "Pay an order.",
        lane: "write",
        requiresConfirmation: true,
        inputSchema: id,
        execute: (params) => {
          log.push(`pay ${params.id}`);
          return { paid: params.id };
        },
        undo: (params) => ({ op: "shop.order.refund", args: { id: params.id } }),
      }),
      defineTool({
        name: "refund_order",
        op: "shop.order.refund",
        description: "Refund an order.",
        lane: "write",
        inputSchema: id,
        execute: (params) => {
          log.push(`refund ${params.id}`);
          return { refunded: params.id };
        },
      }),
      defineTool({
        name: "break_order",
        op: "shop.order.break",
        description: "Break.",
        lane: "write",
        execute: () => {
          throw new Error("the press broke");
        },
      }),
      defineTool({
        name: "secret_orders",
        op: "shop.secret.list",
        description: "Secret orders.",
        requiredScopes: ["admin"],
        execute: () => "secret",
      }),
    ],
  });
  return { domain, orders, log };
}

export function createShopGateway(options: Partial<GatewayOptions> = {}) {
  const shop = createShop();
  const gateway = createGateway({ domains: [shop.domain], principal: writer, ...options });
  return { ...shop, gateway };
}
