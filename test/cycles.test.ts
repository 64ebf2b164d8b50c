import { dirname } from "node:path";
import { expect, test } from "vitest";
import { fileGraph, findCycles, folderGraph } from "./import-graph.ts";

/** Folders whose files still import each other in a cycle. */
const FILE_CYCLES_IN: readonly string[] = ["src/agent", "src/ai-sdk", "src/calls", "src/mcp", "src/net"];

/** Folders that still import their own sub-folders in a cycle. */
const FOLDER_CYCLES_BELOW: readonly string[] = ["src/agent/workspace", "src/models", "src/testing"];

const files = fileGraph();

test("the files of src/ import each other without a cycle, types included", () => {
  const unknown = findCycles(files).filter(
    (cycle) => !FILE_CYCLES_IN.some((folder) => cycle.every((file) => dirname(file) === folder)),
  );
  expect(unknown).toEqual([]);
});

test("the folders of src/ import each other without a cycle, types included", () => {
  const unknown = findCycles(folderGraph(files)).filter(
    (cycle) =>
      !FOLDER_CYCLES_BELOW.some((top) => cycle.every((folder) => `${folder}/`.startsWith(`${top}/`))),
  );
  expect(unknown).toEqual([]);
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
