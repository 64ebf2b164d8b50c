// Writes an audit log from a process of its own, whose files may be limited in size, or which may be killed. Obeys the
// lines of stdin.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { isProblem } from "../../src/base/problems/problem.ts";
import { createFileAuditStore } from "../../src/core/audit/file-audit-store.ts";

const store = createFileAuditStore({ path: process.argv[2] ?? "", sync: "never" });
const mark = process.argv[3] ?? "";
let count = 0;

/** Acts after the record of each act, until it is killed. */
async function act(): Promise<never> {
  for (;;) {
    store.add({
      kind: "allowed",
      actor: "ann",
      principal: "ann",
      what: "server",
      name: `${count}`,
      digest: "d",
    });
    await store.flush();
    appendFileSync(mark, "acted\n");
    if (count === 0) console.log("acting");
    count += 1;
    if (count % 50 === 0) await new Promise(setImmediate);
  }
}

for await (const word of createInterface({ input: process.stdin })) {
  if (word === "act") await act();
  const most = word === "fill" ? 1_000 : count + 3;
  let told = "written";
  while (count < most && told === "written") {
    store.add({
      kind: "allowed",
      actor: "ann",
      principal: "ann",
      what: "server",
      name: `${count}`,
      digest: "d",
    });
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
