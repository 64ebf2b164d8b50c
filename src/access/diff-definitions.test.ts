import { expect, test } from "vitest";
import { diffDefinitions } from "./diff-definitions.ts";

test("differences are listed by innermost field", () => {
  const before = {
    name: "a",
    inputSchema: { properties: { "x/y": { type: "string" }, gone: true } },
    list: [1],
  };
  const after = {
    name: "a",
    inputSchema: { properties: { "x/y": { type: "number" } } },
    list: [1, 2],
    extra: null,
  };
  expect(diffDefinitions(before, after)).toEqual([
    { path: "/extra", after: null },
    { path: "/inputSchema/properties/gone", before: true },
    { path: "/inputSchema/properties/x~1y/type", before: "string", after: "number" },
    { path: "/list", before: [1], after: [1, 2] },
  ]);
});

test("equal definitions have no differences, and __proto__ is a name like any other", () => {
  const hostile = JSON.parse('{"__proto__":{"a":1},"constructor":1}');
  expect(diffDefinitions(hostile, JSON.parse(JSON.stringify(hostile)))).toEqual([]);
  expect(diffDefinitions({}, hostile).map(({ path }) => path)).toEqual(["/__proto__", "/constructor"]);
});
