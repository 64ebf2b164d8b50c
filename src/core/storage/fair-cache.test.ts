import fc from "fast-check";
import { expect, test } from "vitest";
import { createFairCache, type FairCacheOptions } from "./fair-cache.ts";

const roomy = { entries: 100, size: 1_000 };

function cache(options: Partial<FairCacheOptions<string>> = {}) {
  return createFairCache<string>({ all: roomy, perOwner: roomy, ttlMs: 1_000, now: () => 0, ...options });
}

test("an entry is there for its owner alone", () => {
  const made = cache();
  made.set("k", "ann", "v");
  expect(made.get("k", "ann")).toBe("v");
  expect(made.get("k", "bob")).toBeUndefined();
  expect(made.renew("k", "bob")).toBeUndefined();
});

test("an owner over its number loses its own oldest entry", () => {
  const made = cache({ perOwner: { entries: 2, size: 1_000 } });
  made.set("other", "bob", "v");
  for (const key of ["a", "b", "c"]) made.set(key, "ann", "v");
  expect(["a", "b", "c"].map((key) => made.get(key, "ann"))).toEqual([undefined, "v", "v"]);
  expect(made.get("other", "bob")).toBe("v");
});

test("a renewed entry is no longer the oldest", () => {
  const made = cache({ perOwner: { entries: 2, size: 1_000 } });
  made.set("a", "ann", "v");
  made.set("b", "ann", "v");
  made.renew("a", "ann");
  made.set("c", "ann", "v");
  expect(["a", "b", "c"].map((key) => made.get(key, "ann"))).toEqual(["v", undefined, "v"]);
});

test("an owner over its size keeps its newest entry, however large", () => {
  const made = cache({ perOwner: { entries: 10, size: 50 } });
  made.set("a", "ann", "v", 20);
  made.set("b", "ann", "v", 70);
  expect(["a", "b"].map((key) => made.get(key, "ann"))).toEqual([undefined, "v"]);
});

test("an entry larger than the whole cache is not kept, and nothing makes room for it", () => {
  const removed: string[] = [];
  const made = cache({ onRemoved: (key) => removed.push(key) });
  made.set("a", "ann", "v");
  made.set("b", "ann", "v", 1_001);
  expect(made.get("a", "ann")).toBe("v");
  expect(removed).toEqual(["b"]);
});

test("entries expire, earlier ones first, and renewing postpones it", () => {
  let time = 0;
  const made = cache({ now: () => time });
  made.set("a", "ann", "v");
  made.set("b", "ann", "v");
  time = 600;
  made.renew("a", "ann");
  made.get("b", "ann");
  time = 1_200;
  expect(["a", "b"].map((key) => made.get(key, "ann"))).toEqual(["v", undefined]);
  time = 2_000;
  made.set("c", "bob", "v");
  expect(made.entries).toBe(1);
});

test("replacing an entry counts it once and reports the old value", () => {
  const removed: string[] = [];
  const made = cache({ onRemoved: (_, value) => removed.push(value) });
  made.set("a", "ann", "old", 10);
  made.set("a", "ann", "new", 3);
  expect({ entries: made.entries, size: made.size, removed }).toEqual({
    entries: 1,
    size: 3,
    removed: ["old"],
  });
  made.clear();
  expect({ entries: made.entries, size: made.size, removed }).toEqual({
    entries: 0,
    size: 0,
    removed: ["old", "new"],
  });
});

const changes = fc.array(
  fc.record({
    owner: fc.constantFrom("ann", "bob", "cy", "dee"),
    key: fc.nat(30),
    size: fc.integer({ min: 1, max: 40 }),
    renews: fc.boolean(),
  }),
  { maxLength: 200 },
);
const bounds = { all: { entries: 12, size: 120 }, perOwner: { entries: 8, size: 80 } };

test("no series of changes leaves a cache over its bounds, or takes from an owner within an equal share", () => {
  fc.assert(
    fc.property(changes, (series) => {
      const made = cache(bounds);
      const model = new Map<string, { owner: string; size: number }>();
      for (const { owner, key: number, size, renews } of series) {
        const key = `${owner}${number}`;
        if (renews) {
          expect(made.renew(key, owner) !== undefined).toBe(model.has(key));
          continue;
        }
        model.delete(key);
        model.set(key, { owner, size });
        const before = sharesOf(model);
        made.set(key, owner, "v", size);
        for (const [known, entry] of model) {
          if (made.get(known, entry.owner) !== undefined) continue;
          model.delete(known);
          const { entries, size: held } = before.get(entry.owner)!;
          const isOwn = entry.owner === owner && (entries > 8 || held > 80);
          const isOverShare = entries > 12 / before.size || held > 120 / before.size;
          expect(isOwn || isOverShare).toBe(true);
        }
        expect(made.entries).toBe(model.size);
        expect(made.entries).toBeLessThanOrEqual(12);
        expect(made.size).toBe([...model.values()].reduce((sum, entry) => sum + entry.size, 0));
        expect(made.size).toBeLessThanOrEqual(120);
      }
    }),
  );
});

test("entries added only where there is room are never lost, and four owners leave room for a newcomer", () => {
  fc.assert(
    fc.property(changes, (series) => {
      const removed: string[] = [];
      const made = cache({ ...bounds, onRemoved: (key) => removed.push(key) });
      for (const [index, { owner }] of series.entries()) {
        if (made.hasRoom(owner, 1)) made.set(`${index}`, owner, "v", 1);
      }
      expect(removed).toEqual([]);
      expect(made.hasRoom("newcomer", 1)).toBe(true);
    }),
  );
});

function sharesOf(model: ReadonlyMap<string, { owner: string; size: number }>) {
  const shares = new Map<string, { entries: number; size: number }>();
  for (const { owner, size } of model.values()) {
    const share = shares.get(owner) ?? { entries: 0, size: 0 };
    shares.set(owner, { entries: share.entries + 1, size: share.size + size });
  }
  return shares;
}
