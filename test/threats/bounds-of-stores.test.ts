import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Json } from "../../src/base/util/json.ts";
import { EMPTY_MEMORY } from "../../src/core/sessions/working-memory.ts";
import { createDiskResultStore } from "../../src/core/storage/disk-result-store.ts";
import { createMemoryStorage } from "../../src/core/storage/memory-storage.ts";
import {
  createResultStore,
  mintResultHandle,
  type ResultStore,
} from "../../src/core/storage/result-store.ts";
import {
  createSessionStore,
  createSqliteSessionStore,
  isKnown,
  type SessionStore,
} from "../../src/core/storage/session-store.ts";
import { APPROVAL_MS, createSpentApprovals } from "../../src/core/storage/spent-approvals.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const SESSIONS: Record<string, () => Promise<SessionStore>> = {
  memory: async () => createSessionStore(),
  SQLite: async () => {
    const store = await createSqliteSessionStore(":memory:");
    onTestFinished(() => store.close());
    return store;
  },
};

describe.each(Object.entries(SESSIONS))("sessions in %s", (_, create) => {
  test("T17: a principal that opens 20,000 sessions ends only its own", async () => {
    const store = await create();
    const others = await Promise.all(Array.from({ length: 20 }, () => store.open("bob")));
    const own = await Promise.all(Array.from({ length: 20_000 }, () => store.open("mallory")));
    for (const handle of others) expect(await store.read(handle, "bob")).toEqual(EMPTY_MEMORY);
    expect(await store.read(own.at(-1)!, "mallory")).toEqual(EMPTY_MEMORY);
    const kept = await Promise.all(own.map((handle) => isKnown(store, handle, "mallory")));
    expect(kept.filter(Boolean).length).toBeLessThan(10_000);
  });

  test("T17: two principals that open 10,000 sessions each leave those of a third", async () => {
    const store = await create();
    const handle = await store.open("bob");
    for (let opened = 0; opened < 10_000; opened += 1) {
      await store.open("mallory");
      await store.open("trudy");
    }
    expect(await store.read(handle, "bob")).toEqual(EMPTY_MEMORY);
  });
});

const RESULTS: Record<string, { create: () => ResultStore; large: number }> = {
  memory: { create: createResultStore, large: 3_000_000 },
  disk: {
    create: () => createDiskResultStore({ path: join(temporaryFolder(), "results"), maxChars: 2_000_000 }),
    large: 50_000,
  },
};

describe.each(Object.entries(RESULTS))("results in %s", (_, { create, large }) => {
  test("T17: a principal that stores 1,500 results pushes out only its own", async () => {
    const store = create();
    const other = await put(store, ["bob's"], "bob");
    const own = await Promise.all(
      Array.from({ length: 1_500 }, (_, index) => put(store, [index], "mallory")),
    );
    expect(await store.get(other, "bob")).toEqual(["bob's"]);
    expect(await store.get(own.at(-1)!, "mallory")).toEqual([1_499]);
    expect((await keptOf(store, own)).length).toBeLessThan(1_000);
  });

  test("T17: a principal that stores large results pushes out only its own", async () => {
    const store = create();
    const other = await put(store, ["bob's"], "bob");
    const text = "x".repeat(large);
    const own = await Promise.all(Array.from({ length: 100 }, () => put(store, text, "mallory")));
    expect(await store.get(other, "bob")).toEqual(["bob's"]);
    const kept = await keptOf(store, own);
    expect(kept.length).toBeLessThan(50);
    expect(kept).toContain(own.at(-1));
  });
});

test("T17: a principal that uses 110,000 approvals cannot use one of them twice", async () => {
  const approvals = createSpentApprovals();
  expect(await approvals.spend("of-bob", "bob")).toBe(true);
  expect(await approvals.spend("first", "mallory")).toBe(true);
  for (let spent = 0; spent < 110_000; spent += 1) await approvals.spend(`${spent}`, "mallory");
  expect(await approvals.spend("first", "mallory")).toBe(false);
  expect(await approvals.spend("of-bob", "bob")).toBe(false);
  expect(await approvals.spend("another-of-bob", "bob")).toBe(true);
});

test("T17: approvals are accepted again once the earlier ones have expired", async () => {
  let time = 0;
  const approvals = createSpentApprovals((_, options) => createMemoryStorage(options, () => time));
  for (let spent = 0; spent < 110_000; spent += 1) await approvals.spend(`${spent}`, "mallory");
  expect(await approvals.spend("next", "mallory")).toBe(false);
  time = APPROVAL_MS;
  expect(await approvals.spend("next", "mallory")).toBe(true);
});

async function put(store: ResultStore, value: Json, principalId: string): Promise<string> {
  const handle = mintResultHandle();
  await store.put(handle, value, principalId);
  return handle;
}

async function keptOf(store: ResultStore, handles: readonly string[]): Promise<string[]> {
  const kept = await Promise.all(handles.map((handle) => store.has(handle, "mallory")));
  return handles.filter((_, at) => kept[at]);
}
