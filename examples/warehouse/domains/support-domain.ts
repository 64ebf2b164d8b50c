// Tickets and the handling of customers. A small domain, visible only to the support desk.
import { type DomainDefinition, defineDomain, defineResource, defineTool } from "keyhole";
import { z } from "zod";
import type { Warehouse } from "../database.ts";
import { profileOf } from "../profile.ts";

const userId = z.string().min(1).max(64);

export function createSupportDomain({ database, now }: Warehouse): DomainDefinition {
  return defineDomain({
    name: "support",
    description: "Tickets and how we look after customers.",
    requiredScopes: ["internal", "support"],
    tools: [
      defineTool({
        route: "support://tools/list-tickets",
        name: "List Tickets",
        description: "Support tickets of a customer, or all that are open.",
        inputSchema: z.strictObject({ user_id: userId.optional() }),
        examples: [{ args: { user_id: "u-2001" } }],
        phrases: ["complaints of a customer"],
        execute: ({ user_id }) => ({
          tickets: database
            .prepare(
              "SELECT * FROM tickets WHERE user_id = ?1 OR (?1 IS NULL AND state = 'open') ORDER BY ticket_id",
            )
            .all(user_id ?? null),
        }),
      }),

      defineTool({
        route: "support://tools/hidden/vip-ticket",
        name: "VIP Ticket",
        description: "Opens a ticket with the account manager of a VIP customer.",
        searchable: false,
        lane: "write",
        inputSchema: z.strictObject({ user_id: userId, note: z.string().max(2_000).default("Please call.") }),
        examples: [{ args: { user_id: "u-3007", note: "Asks for a discount." } }],
        dryRun: ({ user_id, note }) => ({
          would_open: { user_id: profileOf(database, user_id).user_id, note },
        }),
        execute({ user_id, note }) {
          profileOf(database, user_id);
          return database
            .prepare(
              "INSERT INTO tickets (user_id, opened_at, priority, state, note) VALUES (?, ?, 'vip', 'open', ?) RETURNING *",
            )
            .get(user_id, now().toISOString(), note);
        },
      }),
    ],
    resources: [
      defineResource({
        route: "support://resources/vip-policy",
        name: "VIP policy",
        description: "Who counts as a VIP customer and how fast support answers them.",
        fetch: () =>
          "Customers who spent more than €10,000 are VIPs. Their tickets are answered within the hour.",
      }),
    ],
  });
}
