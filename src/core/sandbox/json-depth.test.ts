import { expect, test } from "vitest";
import { jsonDepth } from "./machine.ts";

test.each([
  ["null", 0],
  ['"[{"', 0],
  ['"a\\"[["', 0],
  ['"\\\\"', 0],
  ["[]", 1],
  ['{"a":1}', 1],
  ['[[],{"a":{"b":[]}}]', 4],
  ['{"a]":"}","b":["[[[",{"c":1}]}', 3],
])("the depth of %s is %i", (json, depth) => {
  expect(jsonDepth(json)).toBe(depth);
});
