import fc from "fast-check";
import { expect, test } from "vitest";
import { heapBytes } from "./heap-bytes.ts";

test("a value never counts less than the text of its JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(heapBytes(value)).toBeGreaterThanOrEqual(
        JSON.stringify(value).replaceAll(/\\./g, "x").length / 3,
      );
      expect(heapBytes([value])).toBeGreaterThan(heapBytes(value));
    }),
  );
});

test("a million empty objects count as the memory they take, not as their text", () => {
  expect(heapBytes(Array.from({ length: 1_000_000 }, () => ({})))).toBeGreaterThan(30_000_000);
});

test("the count stops after its limit, also for a value that contains itself", () => {
  const cycle: unknown[] = ["text"];
  cycle.push(cycle);
  expect(heapBytes(cycle, 10_000)).toBeGreaterThan(10_000);
  expect(heapBytes(cycle, 10_000)).toBeLessThan(20_000);
});
