import { expect, test } from "vitest";
import { RecentMap } from "./nearest.ts";

test("keeps the values that are asked for, and never more than its bound", () => {
  const map = new RecentMap<number, string>(10);
  map.set(0, "kept");
  for (let key = 1; key <= 100; key++) {
    map.set(key, `value ${key}`);
    expect(map.get(0)).toBe("kept");
  }
  const held = Array.from({ length: 101 }, (_, key) => key).filter((key) => map.get(key) !== undefined);
  expect(held.length).toBeLessThanOrEqual(10);
  expect(held).toContain(100);
});

test("a value that is set again replaces the older one", () => {
  const map = new RecentMap<string, number>(4);
  map.set("a", 1);
  map.set("a", 2);
  expect(map.get("a")).toBe(2);
  expect(map.get("b")).toBeUndefined();
});
