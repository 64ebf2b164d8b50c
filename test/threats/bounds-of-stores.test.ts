import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRounds } from "../../src/mcp/rounds.ts";
import { createDiskResultStore } from "../../src/session/disk-result-store.ts";
import { createMemorySessionStore } from "../../src/session/memory-session-store.ts";
import { createResultStore, type ResultStore } from "../../src/session/result-store.ts";
import type { SessionStore } from "../../src/session/session-store.ts";
import { openSqliteSessionStore } from "../../src/session/sqlite-session-store.ts";
import { EMPTY_MEMORY } from "../../src/session/working-memory.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const SESSIONS: Record<string, () => SessionStore> = {
  memory: createMemorySessionStore,
  SQLite: () => {
    const store = openSqliteSessionStore(":memory:", {});
    onTestFinished(() => store.close());
    return store;
  },
};

describe.each(Object.entries(SESSIONS))("sessions in %s", (_, create) => {
  test("T17: a principal that opens 20,000 sessions ends only its own", () => {
    const store = create();
    const others = Array.from({ length: 20 }, () => store.open("bob"));
    const own = Array.from({ length: 20_000 }, () => store.open("mallory"));
    for (const handle of others) expect(store.read(handle, "bob")).toEqual(EMPTY_MEMORY);
    expect(store.read(own.at(-1)!, "mallory")).toEqual(EMPTY_MEMORY);
    const kept = own.filter((handle) => isKept(() => store.read(handle, "mallory")));
    expect(kept.length).toBeLessThan(10_000);
  });

  test("T17: two principals that open 10,000 sessions each leave those of a third", () => {
    const store = create();
    const handle = store.open("bob");
    for (let opened = 0; opened < 10_000; opened += 1) {
      store.open("mallory");
      store.open("trudy");
    }
    expect(store.read(handle, "bob")).toEqual(EMPTY_MEMORY);
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
  test("T17: a principal that stores 1,500 results pushes out only its own", () => {
    const store = create();
    const other = store.put(["bob's"], 9, "bob");
    const own = Array.from({ length: 1_500 }, (_, index) => store.put([index], 6, "mallory"));
    expect(store.get(other, "bob")).toEqual(["bob's"]);
    expect(store.get(own.at(-1)!, "mallory")).toEqual([1_499]);
    expect(own.filter((handle) => store.has(handle, "mallory")).length).toBeLessThan(1_000);
  });

  test("T17: a principal that stores large results pushes out only its own", () => {
    const store = create();
    const other = store.put(["bob's"], 9, "bob");
    const text = "x".repeat(large);
    const own = Array.from({ length: 100 }, () => store.put(text, text.length, "mallory"));
    expect(store.get(other, "bob")).toEqual(["bob's"]);
    const kept = own.filter((handle) => store.has(handle, "mallory"));
    expect(kept.length).toBeLessThan(50);
    expect(kept).toContain(own.at(-1));
  });
});

test("T17: a principal that uses 110,000 approvals cannot use one of them twice", () => {
  const rounds = createRounds();
  expect(rounds.spend("of-bob", "bob")).toBe(true);
  expect(rounds.spend("first", "mallory")).toBe(true);
  for (let spent = 0; spent < 110_000; spent += 1) rounds.spend(`${spent}`, "mallory");
  expect(rounds.spend("first", "mallory")).toBe(false);
  expect(rounds.spend("of-bob", "bob")).toBe(false);
  expect(rounds.spend("another-of-bob", "bob")).toBe(true);
});

test("T17: approvals are accepted again once the earlier ones have expired", () => {
  let time = 0;
  const rounds = createRounds({ now: () => time, ttlMs: 1_000 });
  for (let spent = 0; spent < 110_000; spent += 1) rounds.spend(`${spent}`, "mallory");
  expect(rounds.spend("next", "mallory")).toBe(false);
  time = 1_000;
  expect(rounds.spend("next", "mallory")).toBe(true);
});

function isKept(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
