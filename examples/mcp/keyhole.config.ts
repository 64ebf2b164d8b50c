// A catalog for `keyhole serve --config examples/mcp/keyhole.config.ts --allow-write`.
import { defineDomain, defineResource, defineTool } from "keyhole";
import { z } from "zod";

const orders = new Map([[1, { id: 1, customer: "Ada", cents: 4200 }]]);

export const domains = [
  defineDomain({
    name: "shop",
    description: "Orders of a small shop.",
    tools: [
      defineTool({
        name: "list_orders",
        description: "List orders, newest first.",
        execute: () => [...orders.values()].reverse(),
      }),
      defineTool({
        name: "create_order",
        description: "Create an order for a customer.",
        inputSchema: z.object({ customer: z.string(), cents: z.int().positive() }),
        execute: (order) => {
          const id = orders.size + 1;
          orders.set(id, { id, ...order });
          return { id };
        },
      }),
      defineTool({
        name: "send_refund",
        description: "Send money back to a customer.",
        requiresConfirmation: true,
        inputSchema: z.object({ order: z.int(), cents: z.int().positive() }),
        execute: ({ order, cents }) => `Sent ${cents} cents for order ${order}.`,
      }),
    ],
    resources: [
      defineResource({
        route: "shop://resources/refunds",
        name: "Refund policy",
        description: "When money is sent back.",
        fetch: () => "Within 30 days, whatever the reason.",
      }),
    ],
  }),
];
