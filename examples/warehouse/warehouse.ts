// The whole system: one database, and four domains that lead into each other.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DomainDefinition } from "keyhole";
import { fill, openDatabase } from "./database.ts";
import { createBlockchainDomain } from "./domains/blockchain-domain.ts";
import { createLogsDomain } from "./domains/logs-domain.ts";
import { createSupportDomain } from "./domains/support-domain.ts";
import { createWarehouseDomain } from "./domains/warehouse-domain.ts";

export interface WarehouseOptions {
  /** A file to keep the data in. Without it, one that goes away with `close`. */
  readonly path?: string;
  /** What writes are dated by. */
  readonly now?: () => Date;
  /** How long SQL that an agent wrote may run; 10 s by default. */
  readonly sqlMs?: number;
}

export interface WarehouseSystem {
  readonly domains: readonly DomainDefinition[];
  /** Undoes every change. */
  reset(): void;
  close(): Promise<void>;
}

const SQL_MS = 10_000;

export function createWarehouse(options: WarehouseOptions = {}): WarehouseSystem {
  const { now = () => new Date(), sqlMs = SQL_MS } = options;
  const folder = options.path === undefined ? mkdtempSync(join(tmpdir(), "keyhole-warehouse-")) : undefined;
  const path = options.path ?? join(folder!, "warehouse.db");
  const database = openDatabase(path);
  const warehouse = { database, path, now, sqlMs };
  return {
    domains: [
      createWarehouseDomain(warehouse),
      createLogsDomain(warehouse),
      createSupportDomain(warehouse),
      createBlockchainDomain(warehouse),
    ],
    reset: () => fill(database),
    async close() {
      database.close();
      if (folder) rmSync(folder, { recursive: true, force: true });
    },
  };
}
