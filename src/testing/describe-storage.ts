import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import type { OpenStorage, Storage, StorageOptions } from "../base/util/storage.ts";
import { type DescribeIndexOptions, describeBehaviours, type TestRunner } from "./describe-index.ts";

/**
 * Tests that a driver behaves as the {@link Storage} port demands. `create` must return a driver over new, empty
 * storage each time.
 *
 * @example
 * ```ts no-run
 * import { describe, test } from "node:test";
 * import type { OpenStorage } from "keyhole";
 * import { describeStorage } from "keyhole/testing";
 *
 * declare function createMyDriver(): OpenStorage;
 * describeStorage("my driver", createMyDriver, { describe, test });
 * ```
 */
export function describeStorage(
  name: string,
  create: () => OpenStorage | Promise<OpenStorage>,
  runner: TestRunner,
  options: DescribeIndexOptions = {},
): void {
  const tests = Object.entries(BEHAVIOURS).map(([behaviour, check]) => ({
    name: behaviour,
    run: async () => check(await create()),
  }));
  describeBehaviours(`${name} as a storage`, tests, runner, options);
}

const ROOMY: StorageOptions<number> = {
  all: { entries: 1_000, size: 1e9 },
  perOwner: { entries: 500, size: 1e9 },
  ttlMs: 60_000,
};
const SOON_MS = 30;
const LONG_AFTER_MS = 500;

const BEHAVIOURS: Readonly<Record<string, (open: OpenStorage) => Promise<void>>> = {
  "owners share no keys": async (open) => {
    const values = open("number", ROOMY);
    assert.equal(await values.put("key", "ann", 1), true);
    assert.equal(await values.put("key", "bob", 2), true);
    assert.equal(await values.put("key", "ann", 3), false);
    assert.deepEqual([await values.get("key", "ann"), await values.get("key", "bob")], [1, 2]);
    assert.equal(await values.get("key", "ann\n"), undefined);
    assert.equal(await values.update("key", "ann", () => undefined), undefined);
    assert.deepEqual([await values.has("key", "ann"), await values.has("key", "bob")], [false, true]);
  },

  "kinds share no keys": async (open) => {
    const [one, other] = [open("one", ROOMY), open("other", ROOMY)];
    await one.put("key", "ann", 1);
    assert.equal(await other.has("key", "ann"), false);
  },

  "keys and owners of any characters are told apart": async (open) => {
    const values = open("number", ROOMY);
    const names = ["", " ", "\0", "\ud800", "\ue000", "é", "__proto__", "a'b\"c"];
    for (const [at, name] of names.entries()) assert.equal(await values.put(name, name, at), true, name);
    const stored = await Promise.all(names.map((name) => values.get(name, name)));
    assert.deepEqual(stored, [...names.keys()]);
  },

  "no change of many is lost": async (open) => {
    const values = open("number", { ...ROOMY, cached: 8 });
    await values.put("key", "ann", 0);
    await Promise.all(Array.from({ length: 30 }, () => values.update("key", "ann", (value) => value + 1)));
    assert.equal(await values.get("key", "ann"), 30);
  },

  "a list takes one value for each position": async (open) => {
    const values = open("list", ROOMY);
    await values.put("key", "ann", 0, 1);
    const added = await Promise.all([7, 8, 9].map((value) => values.append("key", "ann", 2, value)));
    assert.equal(added.filter(Boolean).length, 1);
    assert.equal((await values.list("key", "ann")).length, 3);
    assert.equal(await values.append("key", "ann", 5, 1), false);
    assert.equal(await values.append("key", "bob", 0, 1), false);
    assert.deepEqual(await values.list("key", "bob"), []);
    assert.deepEqual(await values.list("key", "ann", 1), (await values.list("key", "ann")).slice(1));
    assert.deepEqual(await values.list("key", "ann", 3), []);
  },

  "a removed list leaves nothing": async (open) => {
    const values = open("list", ROOMY);
    await values.put("key", "ann", 0, 1, 2);
    await values.update("key", "ann", () => undefined);
    assert.deepEqual(await values.list("key", "ann", 1), []);
    await values.put("key", "ann", 7);
    assert.deepEqual(await values.list("key", "ann"), [7]);
  },

  "owners keep an equal share, the most recent values first": async (open) => {
    const all = { entries: 60, size: 1e9 };
    const values = open("number", { ...ROOMY, all, perOwner: { ...all, entries: 48 } });
    await values.put("first", "ann", 1);
    await values.put("first", "bob", 1);
    for (let number = 0; number < 200; number += 1) {
      await values.put(`m${number}`, "mallory", number);
      await values.put(`t${number}`, "trudy", number);
    }
    assert.deepEqual([await values.has("first", "ann"), await values.has("first", "bob")], [true, true]);
    const [mallory, trudy] = [await countOf(values, "mallory", "m"), await countOf(values, "trudy", "t")];
    assert.ok(Math.abs(mallory - trudy) <= 4, `${mallory} and ${trudy}`);
    assert.ok(mallory + trudy > 40 && mallory + trudy <= 60, `${mallory} and ${trudy}`);
  },

  "of more owners than there is room for, the last ones keep their values": async (open) => {
    const all = { entries: 40, size: 1e9 };
    const values = open("number", { ...ROOMY, all, perOwner: { ...all, entries: 32 } });
    for (let number = 0; number < 100; number += 1) {
      const owner = `owner ${number}`;
      await values.put("key", owner, number);
      assert.equal(await values.has("key", owner), true, owner);
    }
    assert.equal(await values.has("key", "owner 0"), false);
  },

  "large lists push out the oldest ones of their owner alone, but never the newest": async (open) => {
    const lists = open<string>("list", {
      all: { entries: 100, size: 10_000_000 },
      perOwner: { entries: 100, size: 1_000_000 },
      ttlMs: 60_000,
    });
    await lists.put("first", "bob", "1");
    for (let number = 0; number < 30; number += 1) {
      await lists.put(`${number}`, "ann", "1");
      assert.equal(await lists.append(`${number}`, "ann", 1, "x".repeat(100_000)), true);
    }
    const keys = Array.from({ length: 30 }, (_, number) => `${number}`);
    const lengths = await Promise.all(keys.map(async (key) => (await lists.list(key, "ann")).length));
    const held = lengths.filter(Boolean).length;
    assert.equal(lengths.at(-1), 2);
    assert.ok(held >= 4 && held <= 10, `${held} lists`);
    assert.deepEqual(
      lengths,
      lengths.toSorted((left, right) => left - right),
    );
    assert.deepEqual(await lists.list("first", "bob"), ["1"]);
  },

  "lasting values are refused rather than lost": async (open) => {
    const values = open("number", {
      all: { entries: 100, size: 1e9 },
      perOwner: { entries: 10, size: 1e9 },
      ttlMs: 60_000,
      lasting: true,
    });
    const puts: boolean[] = [];
    for (let number = 0; number < 12; number += 1) puts.push(await values.put(`${number}`, "ann", number));
    assert.deepEqual(puts, [...Array(10).fill(true), false, false]);
    assert.equal(await values.get("0", "ann"), 0);
    assert.equal(await values.put("0", "ann", 9), false);
    assert.equal(await values.put("0", "bob", 1), true);
  },

  "values are forgotten after their time": async (open) => {
    const values = open("number", { ...ROOMY, ttlMs: SOON_MS, cached: 8 });
    await values.put("key", "ann", 1);
    await values.put("list", "ann", 1, 2);
    await setTimeout(LONG_AFTER_MS);
    assert.equal(await values.has("key", "ann"), false);
    assert.equal(await values.get("key", "ann"), undefined);
    assert.equal(await values.update("key", "ann", (value) => value), undefined);
    assert.deepEqual(await values.list("list", "ann"), []);
    assert.equal(await values.append("list", "ann", 2, 3), false);
  },
};

/** How many of its 200 values an owner still has: the newest, not the oldest. */
async function countOf(values: Storage<number>, owner: string, letter: string): Promise<number> {
  const keys = Array.from({ length: 200 }, (_, number) => `${letter}${number}`);
  const held = await Promise.all(keys.map((key) => values.has(key, owner)));
  assert.deepEqual([held[0], held.at(-1)], [false, true]);
  return held.filter(Boolean).length;
}
