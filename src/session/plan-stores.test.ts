import { join } from "node:path";
import { isProblem } from "keyhole";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { createMemoryPlanStore, type PlanStore } from "./plan-store.ts";
import { openSqlitePlanStore } from "./sqlite-plan-store.ts";

const STORES: Record<string, () => PlanStore> = {
  memory: createMemoryPlanStore,
  sqlite: () => {
    const store = openSqlitePlanStore(join(temporaryFolder(), "state.db"));
    onTestFinished(() => store.close());
    return store;
  },
};

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (error) => (isProblem(error) ? error.code : String(error)),
  );

describe.each(Object.entries(STORES))("plans in %s", (_, create) => {
  test("keep their events in order", async () => {
    const store = create();
    const handle = await store.open("ann", [{ at: "script" }, { at: "planned" }]);
    await store.append(handle, "ann", 2, { at: "began", text: "ünï" });
    expect(await store.read(handle, "ann")).toEqual([
      { at: "script" },
      { at: "planned" },
      { at: "began", text: "ünï" },
    ]);
  });

  test("take one event for each position, however many runs add one", async () => {
    const store = create();
    const handle = await store.open("ann", [1]);
    const codes = await Promise.all([2, 3, 4].map((event) => codeOf(store.append(handle, "ann", 1, event))));
    expect(codes.toSorted()).toEqual(["CONFLICT", "CONFLICT", "ok"]);
    expect(await codeOf(store.append(handle, "ann", 7, 1))).toBe("CONFLICT");
    expect(await store.read(handle, "ann")).toHaveLength(2);
  });

  test("are unknown to other principals", async () => {
    const store = create();
    const handle = await store.open("ann", [1]);
    for (const call of [
      store.read(handle, "bob"),
      store.append(handle, "bob", 1, 2),
      store.read("plan_made-up", "ann"),
      store.append("__proto__", "ann", 0, 1),
    ])
      expect(await codeOf(call)).toBe("UNKNOWN_HANDLE");
    expect(await store.read(handle, "ann")).toEqual([1]);
  });
});

test("plans in SQLite outlive their store, and several processes may share them", async () => {
  const path = join(temporaryFolder(), "state.db");
  const [one, other] = [openSqlitePlanStore(path), openSqlitePlanStore(path)];
  const handle = await one.open("ann", [1]);
  await other.append(handle, "ann", 1, 2);
  expect(await codeOf(one.append(handle, "ann", 1, 3))).toBe("CONFLICT");
  one.close();
  other.close();
  const again = openSqlitePlanStore(path);
  expect(await again.read(handle, "ann")).toEqual([1, 2]);
  again.close();
});

test("T17: large plans in a file push out the oldest ones of their own principal alone", async () => {
  const store = openSqlitePlanStore(join(temporaryFolder(), "state.db"), { mostBytes: 1_000_000 });
  onTestFinished(() => store.close());
  const other = await store.open("bob", [1]);
  const handles: string[] = [];
  for (let count = 0; count < 30; count += 1) {
    const handle = await store.open("ann", [1]);
    await store.append(handle, "ann", 1, "x".repeat(100_000));
    handles.push(handle);
  }
  const codes = await Promise.all(handles.map((handle) => codeOf(store.read(handle, "ann"))));
  expect(codes).toEqual([...Array(21).fill("UNKNOWN_HANDLE"), ...Array(9).fill("ok")]);
  expect(await store.read(other, "bob")).toEqual([1]);
});
