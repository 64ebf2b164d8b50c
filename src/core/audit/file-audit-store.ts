import { readAuditFolder } from "./audit-folder.ts";
import { AuditLog } from "./audit-log.ts";
import type { AuditStore } from "./audit-store.ts";
import { type FileAuditStoreOptions, FileChain } from "./chain-writer.ts";

/**
 * Stores the audit log in a folder, as lines of JSON. Several processes may use the folder: each writes its own chain,
 * and may continue one that no process writes any more. See {@link GatewayOptions}.
 * @example
 * ```ts
 * import { createFileAuditStore, createGateway } from "keyhole";
 *
 * const store = createFileAuditStore({ path: "audit" });
 * const gateway = createGateway({ domains: [], audit: { store } });
 * await gateway.close();
 * await store.close();
 * ```
 */
export function createFileAuditStore(options: FileAuditStoreOptions): AuditStore {
  const driver = {
    open: async () => FileChain.open(options),
    chains: async () => readAuditFolder(options.path),
  };
  return new AuditLog(driver, options.clock);
}
