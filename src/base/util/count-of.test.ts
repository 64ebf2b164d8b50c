import { expect, test } from "vitest";
import { countOf } from "./count-of.ts";

test("counts in words", () => {
  expect([0, 1, 2].map((number) => countOf(number, "problem"))).toEqual([
    "0 problems",
    "1 problem",
    "2 problems",
  ]);
  expect([1, 3].map((number) => countOf(number, "entry", "entries"))).toEqual(["1 entry", "3 entries"]);
});
