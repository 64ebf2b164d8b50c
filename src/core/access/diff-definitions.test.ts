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

test("names are spelt as JSON pointers, and a missing field differs from null", () => {
  expect(diffDefinitions({ "a~b/c": 1, gone: null }, { "a~b/c": 2 })).toEqual([
    { path: "/a~0b~1c", before: 1, after: 2 },
    { path: "/gone", before: null },
  ]);
  expect(diffDefinitions({ a: {} }, { a: [] })).toEqual([{ path: "/a", before: {}, after: [] }]);
  expect(diffDefinitions({ a: null }, { a: {} })).toEqual([{ path: "/a", before: null, after: {} }]);
  expect(diffDefinitions({ a: "x" }, { a: { b: 1 } })).toEqual([
    { path: "/a", before: "x", after: { b: 1 } },
  ]);
});

test("more than 200 differences are one change of the whole", () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, at]));
  expect(diffDefinitions({}, many(199))).toHaveLength(199);
  expect(diffDefinitions({}, many(200))).toHaveLength(200);
  expect(diffDefinitions({}, many(201))).toEqual([{ path: "", before: {}, after: many(201) }]);
});

test("definitions that are nested deeper than the stack are compared", () => {
  let [before, after]: Record<string, unknown>[] = [{ leaf: 1 }, { leaf: 2 }];
  for (let depth = 0; depth < 20_000; depth += 1) [before, after] = [{ a: before }, { a: after }];
  expect(diffDefinitions(before!, after!)).toMatchObject([{ before: 1, after: 2 }]);
});
