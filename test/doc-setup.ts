// The things that code blocks of the pages take for granted. A page names what it takes in a comment `<!-- setup`.
import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { createScriptedModel } from "keyhole/testing";
import { z } from "zod";

export const principal: Principal = { id: "ann", scopes: [], allowWrite: true };

export const domains = [
  defineDomain({
    name: "shop",
    description: "Orders of a shop.",
    tools: [
      defineTool({
        name: "list_orders",
        op: "shop.order.list",
        description: "List all orders.",
        lane: "read",
        execute: () => ({ items: [10, 30, 50].map((total, id) => ({ id, total })) }),
      }),
      defineTool({
        name: "get_order",
        op: "shop.order.get",
        description: "Read one order.",
        lane: "read",
        inputSchema: z.object({ id: z.int() }),
        execute: ({ id }) => ({ id, total: 10 * id }),
      }),
    ],
  }),
];

/** A gateway with recipes in the folder of the block. */
export const gateway = createGateway({ domains, principal, recipes: "recipes" });

/** A model that says one thing. */
export const model = createScriptedModel(() => ({ text: "Three orders." }));
