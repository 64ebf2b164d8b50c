// A run that ends in the middle of any step goes on where it stopped, and no effect takes place twice.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSqliteSessionStore } from "keyhole";
import { afterAll, expect } from "vitest";
import type { PlanStore } from "../src/core/storage/plan-store.ts";
import { verifies } from "./claims.ts";
import { createNotes, NOTES_CODE } from "./notes-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "keyhole-test-"));
const file = join(folder, "notes.txt");
writeFileSync(file, "");
const store = await createSqliteSessionStore(join(folder, "state.db"));
const gateway = createNotes(file, store);
afterAll(async () => {
  await gateway.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const linesOf = (names: readonly string[]) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => names.includes(line))
    .toSorted();

async function planFor(names: readonly string[]): Promise<string> {
  const { plan } = await gateway.run({ code: NOTES_CODE, params: { names }, dryRun: true });
  return plan!.handle;
}

verifies(
  "run:resume",
  "the process ends at any step of the journal, and every effect takes place exactly once",
  async () => {
    for (let last = 1, finished = false; !finished; last += 1) {
      const names = [`${last} one`, `${last} two`];
      const plan = await planFor(names);
      let steps = 0;
      const dead = Promise.withResolvers<"dead">();
      /** Nothing happens any more from the step on at which the process ended. */
      const step = async () => {
        steps += 1;
        if (steps < last) return;
        dead.resolve("dead");
        await new Promise(() => {});
      };
      const plans = {
        ...store.plans!,
        append: async (...event: Parameters<PlanStore["append"]>) => {
          await step();
          await store.plans!.append(...event);
          await step();
        },
      };
      const dying = createNotes(file, { ...store, plans }, step);
      finished = (await Promise.race([dying.run({ plan }), dead.promise])) !== "dead";
      await dying.close();
      const before = linesOf(names);
      expect(new Set(before).size).toBe(before.length);
      expect(await gateway.run({ plan }), `step ${last}`).toMatchObject({ ok: true, result: true });
      expect(linesOf(names), `step ${last}`).toEqual(names);
    }
  },
);

verifies(
  "run:resume",
  "a process that is killed in the middle of effects goes on in another one",
  async () => {
    const names = ["one", "three", "two"];
    const plan = await planFor(names);
    for (const at of ["before three", "after two"]) {
      writeFileSync(join(folder, "kill"), at);
      const child = fork(join(import.meta.dirname, "notes-gateway.ts"), [folder, plan]);
      expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
    }
    const answer = await gateway.run({ plan });
    expect(answer).toMatchObject({ ok: true, result: true });
    expect(answer.effects.map(({ state }) => state)).toEqual(["done", "unknown", "done", "unknown"]);
    expect(linesOf(names)).toEqual(names);
  },
);
