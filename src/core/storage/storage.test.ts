import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { PGlite } from "@electric-sql/pglite";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { openMemoryStorage } from "./memory-storage.ts";
import { createSqlDriver, openSqliteStorage, storageTable } from "./sql-storage.ts";
import type { OpenStorage, StorageOptions } from "./storage.ts";

const pglite = new PGlite();
afterAll(() => pglite.close());
let tables = 0;

const DRIVERS: Record<string, () => Promise<OpenStorage>> = {
  memory: async () => openMemoryStorage,
  SQLite: async () => {
    const { open, close } = openSqliteStorage(join(temporaryFolder(), "state.db"));
    onTestFinished(close);
    return open;
  },
  PostgreSQL: async () => {
    tables += 1;
    await pglite.query(storageTable(`values_${tables}`));
    const query = async (sql: string, params?: unknown[]) =>
      (await pglite.query<Record<string, unknown>>(sql, params)).rows;
    const now = "cast(extract(epoch from now()) * 1000 as bigint)";
    return createSqlDriver({ query, now }, `values_${tables}`);
  },
};

const BOUNDS: StorageOptions<number> = {
  all: { entries: 1_000, size: 1e9 },
  perOwner: { entries: 500, size: 1e9 },
  ttlMs: 60_000,
};

describe.each(Object.entries(DRIVERS))("storage in %s", (_, driver) => {
  test("owners share no keys", async () => {
    const values = (await driver())<number>("number", BOUNDS);
    expect(await values.put("key", "ann", 1)).toBe(true);
    expect(await values.put("key", "bob", 2)).toBe(true);
    expect(await values.put("key", "ann", 3)).toBe(false);
    expect([await values.get("key", "ann"), await values.get("key", "bob")]).toEqual([1, 2]);
    expect(await values.get("key", "ann\n")).toBeUndefined();
    expect(await values.update("key", "ann", () => undefined)).toBeUndefined();
    expect([await values.has("key", "ann"), await values.has("key", "bob")]).toEqual([false, true]);
  });

  test("kinds share no keys", async () => {
    const open = await driver();
    const [one, other] = [open<number>("one", BOUNDS), open<number>("other", BOUNDS)];
    await one.put("key", "ann", 1);
    expect(await other.has("key", "ann")).toBe(false);
  });

  test("no change of many is lost", async () => {
    const values = (await driver())<number>("number", { ...BOUNDS, cached: 8 });
    await values.put("key", "ann", 0);
    await Promise.all(Array.from({ length: 30 }, () => values.update("key", "ann", (value) => value + 1)));
    expect(await values.get("key", "ann")).toBe(30);
  });

  test("T17: owners keep an equal share, the most recent values first", async () => {
    const all = { entries: 60, size: 1e9 };
    const values = (await driver())<number>("number", { ...BOUNDS, all, perOwner: { ...all, entries: 48 } });
    await values.put("first", "ann", 1);
    await values.put("first", "bob", 1);
    for (let number = 0; number < 200; number += 1) {
      await values.put(`m${number}`, "mallory", number);
      await values.put(`t${number}`, "trudy", number);
    }
    expect(await Promise.all(["ann", "bob"].map((owner) => values.has("first", owner)))).toEqual([
      true,
      true,
    ]);
    const heldBy = async (owner: string, letter: string) => {
      const keys = Array.from({ length: 200 }, (_, number) => `${letter}${number}`);
      const held = await Promise.all(keys.map((key) => values.has(key, owner)));
      expect(held.at(-1)).toBe(true);
      expect(held[0]).toBe(false);
      return held.filter(Boolean).length;
    };
    const [mallory, trudy] = [await heldBy("mallory", "m"), await heldBy("trudy", "t")];
    expect(Math.abs(mallory - trudy)).toBeLessThanOrEqual(4);
    expect(mallory + trudy).toBeLessThanOrEqual(60);
    expect(mallory + trudy).toBeGreaterThan(40);
  });

  test("T17: large lists push out the oldest ones of their own owner alone, but never the newest", async () => {
    const perOwner = { entries: 100, size: 1_000_000 };
    const lists = (await driver())<string>("list", {
      ...{ perOwner, ttlMs: 60_000, all: { entries: 100, size: 10_000_000 } },
    });
    await lists.put("first", "bob", "1");
    for (let number = 0; number < 30; number += 1) {
      await lists.put(`${number}`, "ann", "1");
      expect(await lists.append(`${number}`, "ann", 1, "x".repeat(100_000))).toBe(true);
      // Lists of one millisecond have no order.
      await setTimeout(2);
    }
    const held = await Promise.all(
      Array.from({ length: 30 }, async (_, number) => (await lists.list(`${number}`, "ann")).length),
    );
    expect(held.at(-1)).toBe(2);
    expect(held.filter(Boolean).length).toBeGreaterThanOrEqual(4);
    expect(held.filter(Boolean).length).toBeLessThanOrEqual(10);
    expect(held).toEqual(held.toSorted((left, right) => left - right));
    expect(await lists.list("first", "bob")).toEqual(["1"]);
  });

  test("lasting values are refused rather than lost, and the room of a few owners leaves some for others", async () => {
    const values = (await driver())<number>("number", {
      ...{ lasting: true, ttlMs: 60_000 },
      all: { entries: 100, size: 1e9 },
      perOwner: { entries: 10, size: 1e9 },
    });
    const puts = [];
    for (let number = 0; number < 12; number += 1) puts.push(await values.put(`${number}`, "ann", number));
    expect(puts).toEqual([...Array(10).fill(true), false, false]);
    expect(await values.get("0", "ann")).toBe(0);
    expect(await values.put("0", "ann", 9)).toBe(false);
    expect(await values.put("0", "bob", 1)).toBe(true);
  });

  test("values are forgotten after their time", async () => {
    const values = (await driver())<number>("number", { ...BOUNDS, ttlMs: 30, cached: 8 });
    await values.put("key", "ann", 1);
    await values.put("list", "ann", 1, 2);
    await expect.poll(() => values.has("key", "ann")).toBe(false);
    expect(await values.get("key", "ann")).toBeUndefined();
    expect(await values.update("key", "ann", (value) => value)).toBeUndefined();
    await expect.poll(() => values.list("list", "ann")).toEqual([]);
    expect(await values.append("list", "ann", 2, 3)).toBe(false);
  });
});
