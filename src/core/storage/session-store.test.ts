import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { deliverRules, discover, EMPTY_MEMORY } from "../sessions/working-memory.ts";
import { createSqliteSessionStore, isKnown } from "./session-store.ts";

describe("a file of sessions", () => {
  verifies("session:memory", "outlives the process", async () => {
    const path = join(temporaryFolder(), "state.db");
    const first = await createSqliteSessionStore(path);
    const handle = await first.open("ann");
    await first.update(handle, "ann", (memory) => ({ ...discover(memory, ["a.b"]), summary: "So far." }));
    first.close();
    const second = await createSqliteSessionStore(path);
    expect(await second.read(handle, "ann")).toMatchObject({ discoveredTools: ["a.b"], summary: "So far." });
    expect(await isKnown(second, handle, "bob")).toBe(false);
    second.close();
  });

  verifies(
    ["session:nothing-lost", "kill-during-write"],
    "is intact after its writer was killed",
    async () => {
      const path = join(temporaryFolder(), "state.db");
      const store = await createSqliteSessionStore(path);
      const handle = await store.open("ann");
      await store.update(handle, "ann", (memory) => deliverRules(memory, ["first"]));
      const writer = join(import.meta.dirname, "../../../test/session-writer.ts");
      for (let round = 0; round < 3; round += 1) {
        const before = (await store.read(handle, "ann")).rules[0];
        const child = fork(writer, [path, handle, "ann"]);
        await once(child, "message");
        await expect.poll(async () => (await store.read(handle, "ann")).rules[0]).not.toBe(before);
        const exited = once(child, "exit");
        child.kill("SIGKILL");
        await exited;
        const { rules, unveiled } = await store.read(handle, "ann");
        expect(rules).toEqual(unveiled);
        const [step, padding] = rules[0]!.split(":");
        expect(padding).toHaveLength(Number(step) % 3_000);
        await store.update(handle, "ann", (memory) => ({
          ...memory,
          rules: [`${round}`],
          unveiled: [`${round}`],
        }));
      }
      store.close();
    },
  );

  test("is renamed and reported if it is damaged", async () => {
    const path = join(temporaryFolder(), "state.db");
    writeFileSync(path, "this is no database, but it is long enough to be taken for one".repeat(100));
    const damages: string[] = [];
    const store = await createSqliteSessionStore(path, { onDamage: (detail) => damages.push(detail) });
    expect(damages).toHaveLength(1);
    expect(await store.read(await store.open("ann"), "ann")).toEqual(EMPTY_MEMORY);
    store.close();
  });
});
