// Changes a session from two loops at once until the process is killed.
import { createSqliteSessionStore } from "../src/core/storage/session-store.ts";

const [, , path = "", handle = "", principal = ""] = process.argv;
const store = await createSqliteSessionStore(path);
process.send?.("writing");
for (let step = 0; ; step += 1) {
  const text = `${step}:${"x".repeat(step % 3_000)}`;
  await store.update(handle, principal, (memory) => ({ ...memory, rules: [text], unveiled: [text] }));
}
