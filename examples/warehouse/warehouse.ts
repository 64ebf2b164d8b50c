// The whole system: one database and four domains whose guidance leads from one to another.
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
  /** The database file. Default: a temporary file that `close` removes. */
  readonly path?: string;
  /** The clock that dates writes. */
  readonly now?: () => Date;
  /** The time limit of an agent's SQL. Default: 10 s. */
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
