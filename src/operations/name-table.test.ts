import { expect, test } from "vitest";
import type { Entry } from "../schema/entry.ts";
import { hashText, nameKey } from "../search/lexical/name-key.ts";
import { createNameTable } from "./name-table.ts";

const entryOf = (name: string, aliases: readonly string[] = []) =>
  ({ name, op: `cms.${name}`, route: `cms://tools/${name}`, aliases }) as unknown as Entry;

test("finds entries by name, op, route and alias in any spelling, in their order", () => {
  const entries = [entryOf("getPage"), entryOf("list_pages", ["All pages"]), entryOf("get_page")];
  const table = createNameTable(entries);
  expect(table.find(nameKey("Get page"))).toEqual([entries[0], entries[2]]);
  expect(table.find(nameKey("cms.list_pages"))).toEqual([entries[1]]);
  expect(table.find(nameKey("cms://tools/list_pages"))).toEqual([entries[1]]);
  expect(table.find(nameKey("all-pages"))).toEqual([entries[1]]);
  expect(table.has(nameKey("all pages"))).toBe(true);
  expect(table.mayHave(hashText(nameKey("all pages")))).toBe(true);
});

test("knows no other name, and none of entries without letters", () => {
  const table = createNameTable([entryOf("--"), entryOf("page")]);
  expect(table.find(nameKey("pages"))).toEqual([]);
  expect(table.has("")).toBe(false);
  expect(createNameTable([]).find("page")).toEqual([]);
});

test("finds each of many", () => {
  const entries = Array.from({ length: 3_000 }, (_, at) => entryOf(`tool_${at}`));
  const table = createNameTable(entries);
  const wrong = entries.filter((entry) => table.find(nameKey(entry.name))[0] !== entry);
  expect(wrong).toEqual([]);
  expect(table.has(nameKey("tool_3000"))).toBe(false);
});
