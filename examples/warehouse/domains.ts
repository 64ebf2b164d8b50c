// Four domains that lead into each other. Three of them are small: what matters is who unveils whom.
import { type DomainDefinition, defineDomain, defineResource, defineTool } from "keyhole";
import { z } from "zod";
import { LOG_EVENTS, WALLET_TRANSFERS } from "./data.ts";
import { warehouseDomain } from "./warehouse-domain.ts";

const logs = defineDomain({
  name: "logs",
  description: "What happened in our systems, and when.",
  tools: [
    defineTool({
      route: "logs://tools/investigator",
      name: "Log Investigator",
      description:
        "Start here to investigate activity, logins and suspicious or fraudulent behaviour in logs.",
      searchable: true,
      inputSchema: z.object({ query: z.string() }),
      execute: () => "Events carry a user_id, a time, a name and the country of the address they came from.",
      // Where the next steps are always the same, they can stand in the definition.
      guidance: [{ route: "logs://tools/hidden/user-activity", prose: "Everything one user did, in order." }],
    }),
    defineTool({
      route: "logs://tools/hidden/user-activity",
      name: "User Activity",
      description: "Events of one user, oldest first.",
      searchable: false,
      inputSchema: z.object({ user_id: z.string(), limit: z.int().min(1).max(100).default(20) }),
      execute: ({ user_id, limit }) =>
        LOG_EVENTS.filter((event) => event.user_id === user_id).slice(0, limit),
    }),
  ],
});

const support = defineDomain({
  name: "support",
  description: "Tickets and how we look after customers.",
  // Nobody without this scope learns that the domain exists.
  requiredScopes: ["support"],
  tools: [
    defineTool({
      route: "support://tools/hidden/vip-ticket",
      name: "VIP Ticket",
      description: "Opens a ticket with the account manager of a VIP customer.",
      searchable: false,
      lane: "write",
      inputSchema: z.object({ user_id: z.string(), note: z.string().default("Please call.") }),
      execute: ({ user_id, note }) => ({ ticket: `vip-${user_id}`, user_id, note }),
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

const blockchain = defineDomain({
  name: "blockchain",
  description: "Wallets and transfers on public chains.",
  tools: [
    defineTool({
      route: "blockchain://tools/hidden/address-trace",
      name: "Address Trace",
      description: "Follows what left a wallet address, hop by hop.",
      searchable: false,
      inputSchema: z.object({ address: z.string(), hops: z.int().min(1).max(5).default(3) }),
      execute: ({ address, hops }) => trace(address, hops),
    }),
  ],
});

export const domains: readonly DomainDefinition[] = [warehouseDomain, logs, support, blockchain];

function trace(address: string, hops: number): typeof WALLET_TRANSFERS {
  const transfer = hops > 0 && WALLET_TRANSFERS.find(({ from }) => from === address);
  return transfer ? [transfer, ...trace(transfer.to, hops - 1)] : [];
}
