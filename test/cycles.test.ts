import { expect, test } from "vitest";
import { fileGraph, findCycles, folderGraph } from "./import-graph.ts";

const files = fileGraph();

test("the files of src/ import each other without a cycle, types included", () => {
  expect(findCycles(files)).toEqual([]);
});

test("the folders of src/ import each other without a cycle, types included", () => {
  expect(findCycles(folderGraph(files))).toEqual([]);
});

test.each([
  ["a chain", { a: ["b"], b: ["c"], c: [] }, []],
  ["a diamond", { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }, []],
  ["two nodes", { a: ["b"], b: ["a"] }, [["a", "b"]]],
  ["a ring with a tail", { t: ["a"], a: ["b"], b: ["c"], c: ["a"] }, [["a", "b", "c"]]],
  [
    "two rings",
    { a: ["b"], b: ["a", "c"], c: ["d"], d: ["c"] },
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
])("finds the cycles of %s", (_, edges, expected) => {
  const graph = new Map(Object.entries(edges).map(([node, targets]) => [node, new Set<string>(targets)]));
  expect(findCycles(graph)).toEqual(expected);
});
