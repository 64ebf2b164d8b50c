// Wallets and transfers on public chains.
import type { DatabaseSync } from "node:sqlite";
import { type DomainDefinition, defineDomain, defineTool } from "keyhole";
import { z } from "zod";
import type { Warehouse } from "../database.ts";

interface Hop {
  readonly hop: number;
  readonly tx: string;
  readonly from: string;
  readonly to: string;
  readonly amount: number;
  readonly label?: string;
}

export function createBlockchainDomain({ database }: Warehouse): DomainDefinition {
  return defineDomain({
    name: "blockchain",
    description: "Wallets and transfers on public chains.",
    requiredScopes: ["internal"],
    tools: [
      defineTool({
        route: "blockchain://tools/hidden/address-trace",
        name: "Address Trace",
        description:
          "Follows what left a wallet address, hop by hop, and says what is known about where it went.",
        searchable: false,
        inputSchema: z.strictObject({
          address: z.string().min(1).max(128),
          hops: z.int().min(1).max(5).default(3),
        }),
        examples: [{ args: { address: "0x7c3e5f0a91d2" } }],
        execute: ({ address, hops }) => ({ address, trace: trace(database, address, hops) }),
      }),
    ],
  });
}

/** Follows each address once, so that a cycle of transfers ends the trace. */
function trace(database: DatabaseSync, start: string, hops: number): Hop[] {
  const sql = `SELECT tx, from_address AS "from", to_address AS "to", amount, label
    FROM chain_transfers LEFT JOIN chain_labels ON address = to_address WHERE from_address = ? ORDER BY at`;
  const known = new Set([start]);
  const found: Hop[] = [];
  let front = [start];
  for (let hop = 1; hop <= hops && front.length > 0; hop++) {
    const transfers = front.flatMap((address) => database.prepare(sql).all(address));
    found.push(
      ...transfers.map(
        ({ label, ...transfer }) => ({ hop, ...transfer, ...(label !== null && { label }) }) as Hop,
      ),
    );
    front = [...new Set(transfers.map(({ to }) => String(to)))].filter((address) => !known.has(address));
    for (const address of front) known.add(address);
  }
  return found;
}
