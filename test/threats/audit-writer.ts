// Writes an audit log from a process of its own, whose files may be limited in size. Obeys the lines of stdin.
import { createInterface } from "node:readline";
import { createFileAuditStore } from "../../src/audit/file-audit-store.ts";
import { isProblem } from "../../src/schema/problem.ts";

const store = createFileAuditStore({ path: process.argv[2] ?? "", sync: "never" });
let count = 0;

for await (const word of createInterface({ input: process.stdin })) {
  const most = word === "fill" ? 1_000 : count + 3;
  let told = "written";
  while (count < most && told === "written") {
    store.add({ kind: "allowed", principal: "ann", what: "server", name: `${count}`, digest: "d" });
    count += 1;
    try {
      await store.flush();
    } catch (error) {
      told = `${isProblem(error) ? error.code : error} after ${count - 1} records`;
    }
  }
  console.log(told);
}
await store.close();
