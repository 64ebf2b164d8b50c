import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isProblem } from "keyhole";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../test/requirements.ts";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { createMemorySessionStore } from "./memory-session-store.ts";
import type { SessionStore, SessionStoreOptions } from "./session-store.ts";
import { openSqliteSessionStore } from "./sqlite-session-store.ts";
import { deliverRules, discover, EMPTY_MEMORY, meet } from "./working-memory.ts";

const STORES: Record<string, (options?: SessionStoreOptions) => SessionStore> = {
  memory: createMemorySessionStore,
  sqlite: (options = {}) => {
    const store = openSqliteSessionStore(join(temporaryFolder(), "state.db"), options);
    onTestFinished(() => store.close());
    return store;
  },
};

describe.each(Object.entries(STORES))("sessions in %s", (_, create) => {
  verifies("session:memory", "start empty and keep changes", () => {
    const store = create();
    const handle = store.open("ann");
    expect(store.read(handle, "ann")).toEqual(EMPTY_MEMORY);
    const entity = { type: "page", id: "1", name: "Home", timestamp: new Date(7) };
    store.update(handle, "ann", (memory) => meet(discover(memory, ["a.b"]), [entity]));
    expect(store.read(handle, "ann")).toEqual({
      ...EMPTY_MEMORY,
      discoveredTools: ["a.b"],
      entities: [entity],
    });
  });

  verifies("session:principal", "are refused alike when foreign, unknown, ended or expired", async () => {
    const store = create({ idleMs: 20 });
    const foreign = store.open("ann");
    const ended = store.open("bob");
    store.end(ended, "bob");
    const expired = store.open("bob");
    await expect.poll(() => refusal(() => store.read(expired, "bob"), expired)).toBeDefined();
    const fresh = create();
    const foreignFresh = fresh.open("ann");
    const refusals = [
      refusal(() => store.read(foreign, "bob"), foreign),
      refusal(() => fresh.read(foreignFresh, "bob"), foreignFresh),
      refusal(() => fresh.update(foreignFresh, "bob", (memory) => memory), foreignFresh),
      refusal(() => fresh.end(foreignFresh, "bob"), foreignFresh),
      refusal(() => store.read("ses_made-up", "bob"), "ses_made-up"),
      refusal(() => store.read("__proto__", "bob"), "__proto__"),
      refusal(() => store.read(ended, "bob"), ended),
      refusal(() => store.read(expired, "bob"), expired),
    ];
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toContain("UNKNOWN_HANDLE");
    expect(fresh.read(foreignFresh, "ann")).toEqual(EMPTY_MEMORY);
  });

  test("forget the least recently used session to make room", async () => {
    const store = create({ maxSessions: 3 });
    const first = store.open("ann");
    // Sessions used in the same millisecond are equally old.
    const opened = Date.now();
    await expect.poll(() => Date.now()).toBeGreaterThan(opened);
    const handles = [first, ...Array.from({ length: 8 }, () => store.open("ann"))];
    const kept = handles.filter((handle) => refusal(() => store.read(handle, "ann"), handle) === undefined);
    expect(kept.length).toBeLessThanOrEqual(2 * 3);
    expect(kept).toContain(handles.at(-1));
    expect(kept).not.toContain(handles[0]);
  });

  test("a change that fails changes nothing", () => {
    const store = create();
    const handle = store.open("ann");
    const fail = () => {
      throw new RangeError("no");
    };
    expect(() => store.update(handle, "ann", fail)).toThrow(RangeError);
    expect(store.read(handle, "ann")).toEqual(EMPTY_MEMORY);
    store.update(handle, "ann", (memory) => discover(memory, ["a"]));
    expect(store.read(handle, "ann").discoveredTools).toEqual(["a"]);
  });
});

describe("a file of sessions", () => {
  verifies("session:memory", "outlives the process", () => {
    const path = join(temporaryFolder(), "state.db");
    const first = openSqliteSessionStore(path, {});
    const handle = first.open("ann");
    first.update(handle, "ann", (memory) => ({ ...discover(memory, ["a.b"]), summary: "So far." }));
    first.close();
    const second = openSqliteSessionStore(path, {});
    expect(second.read(handle, "ann")).toMatchObject({ discoveredTools: ["a.b"], summary: "So far." });
    expect(refusal(() => second.read(handle, "bob"), handle)).toContain("UNKNOWN_HANDLE");
    second.close();
  });

  verifies("session:nothing-lost", "keeps the changes of all processes that share it", () => {
    const path = join(temporaryFolder(), "state.db");
    const stores = [openSqliteSessionStore(path, {}), openSqliteSessionStore(path, {})];
    const handle = stores[0]!.open("ann");
    const names = Array.from({ length: 100 }, (_, index) => `tool.${index}`);
    for (const [index, name] of names.entries()) {
      stores[index % 2]!.update(handle, "ann", (memory) => discover(memory, [name]));
    }
    expect(stores[1]!.read(handle, "ann").discoveredTools).toEqual(names);
    for (const store of stores) store.close();
  });

  verifies("session:nothing-lost", "is intact after its writer was killed", async () => {
    const path = join(temporaryFolder(), "state.db");
    const store = openSqliteSessionStore(path, {});
    const handle = store.open("ann");
    store.update(handle, "ann", (memory) => deliverRules(memory, ["first"]));
    const writer = join(import.meta.dirname, "../../test/session-writer.ts");
    for (let round = 0; round < 3; round += 1) {
      const before = store.read(handle, "ann").rules[0];
      const child = fork(writer, [path, handle, "ann"]);
      await once(child, "message");
      await expect.poll(() => store.read(handle, "ann").rules[0]).not.toBe(before);
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
      const { rules, unveiled } = store.read(handle, "ann");
      expect(rules).toEqual(unveiled);
      const [step, padding] = rules[0]!.split(":");
      expect(padding).toHaveLength(Number(step) % 3_000);
      store.update(handle, "ann", (memory) => ({ ...memory, rules: [`${round}`], unveiled: [`${round}`] }));
    }
    store.close();
  });

  test("is renamed and reported if it is damaged", () => {
    const path = join(temporaryFolder(), "state.db");
    writeFileSync(path, "this is no database, but it is long enough to be taken for one".repeat(100));
    const damages: string[] = [];
    const store = openSqliteSessionStore(path, { onDamage: (detail) => damages.push(detail) });
    expect(damages).toHaveLength(1);
    expect(store.read(store.open("ann"), "ann")).toEqual(EMPTY_MEMORY);
    store.close();
  });
});

/** The refusal without its handle; undefined if the call succeeds. */
function refusal(call: () => unknown, handle: string): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return isProblem(error) ? JSON.stringify(error).replaceAll(handle, "HANDLE") : String(error);
  }
}
