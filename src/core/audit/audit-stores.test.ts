import { createMemoryAuditStore } from "../../../test/audit-kit.ts";
import { describeAuditStore } from "../../../test/audit-store-behaviours.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createFileAuditStore } from "./file-audit-store.ts";

describeAuditStore("memory", () => () => createMemoryAuditStore());
for (const sync of ["each", "second", "never"] as const) {
  describeAuditStore(`files, flushed to the disk: ${sync}`, () => {
    const path = temporaryFolder();
    return () => createFileAuditStore({ path, sync });
  });
}
