import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createMemoryAuditStore } from "../../../test/audit-kit.ts";
import { describeAuditStore } from "../../../test/audit-store-behaviours.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { openSqliteStorage } from "../storage/sql-storage.ts";
import { AuditLog } from "./audit-log.ts";
import { createFileAuditStore } from "./file-audit-store.ts";
import { StorageChains } from "./storage-chains.ts";

describeAuditStore("memory", () => () => createMemoryAuditStore());
describeAuditStore("SQLite", () => {
  const { open, close } = openSqliteStorage(join(temporaryFolder(), "state.db"));
  onTestFinished(close);
  const alone = { id: "alone", isRunning: async () => false };
  return () => new AuditLog(new StorageChains(open, alone));
});
for (const sync of ["each", "second", "never"] as const) {
  describeAuditStore(`files, flushed to the disk: ${sync}`, () => {
    const path = temporaryFolder();
    return () => createFileAuditStore({ path, sync });
  });
}
