import { expect, test } from "vitest";
import { idsIn } from "./read-before-write.ts";

test("fields that identify things are collected, at any depth", () => {
  const value = {
    items: [{ id: "a1", title: "no" }, { id: 2 }],
    projectId: "p",
    parent: { task_id: "t", tag_ids: ["x", "y"], count: 5 },
  };
  expect(idsIn(value).sort()).toEqual(["2", "a1", "p", "t", "x", "y"]);
});

test("words of a text with a digit look like ids", () => {
  expect(idsIn("Issue #17 and task_9: done on page two.")).toEqual(["17", "task_9"]);
});

test("any value is bounded", () => {
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`field_${at}`, { id: at }]));
  expect(idsIn(wide).length).toBeLessThanOrEqual(200);
  expect(idsIn(Array.from({ length: 10_000 }, () => Array.from({ length: 100 }, () => null)))).toEqual([]);
  expect(idsIn("9 ".repeat(1_000_000)).length).toBeLessThanOrEqual(200);
  for (const nothing of [null, undefined, 5, true, "", { id: {} }, { id: "" }])
    expect(idsIn(nothing)).toEqual([]);
});
