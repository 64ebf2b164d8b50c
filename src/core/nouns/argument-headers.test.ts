import fc from "fast-check";
import { expect, test } from "vitest";
import { readArgumentHeaders } from "./argument-headers.ts";

const header = (name: unknown, type: unknown = "string") => ({ type, "x-mcp-header": name });
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

test.each([
  object({ region: header("Region"), count: header("Count", "integer"), dry: header("Dry", "boolean") }),
  object({ where: object({ region: header("Region") }) }),
  object({ "x-mcp-header": { type: "number" } }),
  object({ plain: { type: "string", default: { "x-mcp-header": "" } } }),
  object({}),
  undefined,
])("%j may be called", (schema) => {
  expect(readArgumentHeaders(schema)).toMatchObject({ ok: true });
});

test.each([
  object({ value: header("") }),
  object({ value: header(5) }),
  object({ value: header("My Region") }),
  object({ value: header("Region:Primary") }),
  object({ value: header("Région") }),
  object({ value: header("Region\t1") }),
  object({ value: header("Data", "object") }),
  object({ value: header("Score", "number") }),
  object({ value: header("Either", ["string", "integer"]) }),
  object({ value: { "x-mcp-header": "Untyped" } }),
  object({ one: header("MyField"), two: header("myfield") }),
  object({ list: { type: "array", items: header("Item") } }),
  object({}, { $defs: { region: header("Region") } }),
  object({}, { anyOf: [object({ region: header("Region") })] }),
  header("Whole", "object"),
])("%j is left out", (schema) => {
  expect(readArgumentHeaders(schema)).toMatchObject({ ok: false, reason: expect.any(String) });
});

test("JSON of any depth is judged", () => {
  fc.assert(fc.property(fc.jsonValue(), (schema) => void readArgumentHeaders(schema)));
  let deep: object = header("Deep");
  for (let depth = 0; depth < 5_000; depth += 1) deep = object({ deeper: deep });
  expect(readArgumentHeaders(deep)).toMatchObject({ ok: true, headers: [{ name: "Deep" }] });
});

test("a header has the path and type of its argument", () => {
  const schema = object({ where: object({ region: header("Region") }), count: header("Count", "integer") });
  expect(readArgumentHeaders(schema)).toEqual({
    ok: true,
    headers: expect.arrayContaining([
      { path: ["where", "region"], name: "Region", type: "string" },
      { path: ["count"], name: "Count", type: "integer" },
    ]),
  });
});
