import { expect, test } from "vitest";
import { hashText, nameKey, nameTableOf } from "./names.ts";

const entryOf = (name: string, aliases: readonly string[] = []) => ({
  name,
  op: `cms.${name}`,
  route: `cms://tools/${name}`,
  aliases,
});

test("finds entries by name, op, route and alias in any spelling, in their order", () => {
  const entries = [entryOf("getPage"), entryOf("list_pages", ["All pages"]), entryOf("get_page")];
  const table = nameTableOf(entries);
  expect(table.find(nameKey("Get page"))).toEqual([entries[0], entries[2]]);
  expect(table.find(nameKey("cms.list_pages"))).toEqual([entries[1]]);
  expect(table.find(nameKey("cms://tools/list_pages"))).toEqual([entries[1]]);
  expect(table.find(nameKey("all-pages"))).toEqual([entries[1]]);
  expect(table.has(nameKey("all pages"))).toBe(true);
  expect(table.mayHave(hashText(nameKey("all pages")))).toBe(true);
});

test("knows no other name, and none of entries without letters", () => {
  const table = nameTableOf([entryOf("--"), entryOf("page")]);
  expect(table.find(nameKey("pages"))).toEqual([]);
  expect(table.has("")).toBe(false);
  expect(nameTableOf([]).find("page")).toEqual([]);
});

test("finds each of many", () => {
  const entries = Array.from({ length: 3_000 }, (_, at) => entryOf(`tool_${at}`));
  const table = nameTableOf(entries);
  const wrong = entries.filter((entry) => table.find(nameKey(entry.name))[0] !== entry);
  expect(wrong).toEqual([]);
  expect(table.has(nameKey("tool_3000"))).toBe(false);
});
