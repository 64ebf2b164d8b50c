// The whole system: one database, and four domains that lead into each other.
import type { DomainDefinition } from "keyhole";
import { fill, openDatabase } from "./database.ts";
import { createBlockchainDomain } from "./domains/blockchain-domain.ts";
import { createLogsDomain } from "./domains/logs-domain.ts";
import { createSupportDomain } from "./domains/support-domain.ts";
import { createWarehouseDomain } from "./domains/warehouse-domain.ts";

export interface WarehouseOptions {
  /** A file to keep the data in. Without it, in memory. */
  readonly path?: string;
  /** What writes are dated by. */
  readonly now?: () => Date;
}

export interface WarehouseSystem {
  readonly domains: readonly DomainDefinition[];
  /** Undoes every change. */
  reset(): void;
  close(): Promise<void>;
}

export function createWarehouse({
  path = ":memory:",
  now = () => new Date(),
}: WarehouseOptions = {}): WarehouseSystem {
  const database = openDatabase(path);
  const warehouse = { database, now };
  return {
    domains: [
      createWarehouseDomain(warehouse),
      createLogsDomain(warehouse),
      createSupportDomain(warehouse),
      createBlockchainDomain(warehouse),
    ],
    reset: () => fill(database),
    close: async () => database.close(),
  };
}
