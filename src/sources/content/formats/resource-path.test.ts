import fc from "fast-check";
import { expect, test } from "vitest";
import { uniqueName } from "../../../base/util/unique-name.ts";
import { resourcePath, slug } from "./to-node.ts";

test("valid paths stay unchanged, and only blanks and dots are dropped silently", () => {
  expect(resourcePath("facts", "fact_orders", "columns", "order_id")).toBe(
    "facts/fact_orders/columns/order_id",
  );
  expect(resourcePath("", "guides/Getting Started.md")).toBe("guides/Getting-Started-md");
  expect(resourcePath("日本語", "é.md")).toBe("日本語/é-md");
});

test("names that differ only in dropped characters get different paths", () => {
  const paths = ["C", "C#", "C++", "C?"].map((name) => resourcePath("lang", name));
  expect(new Set(paths).size).toBe(4);
  expect(resourcePath("..", ".", "a")).not.toMatch(/(?:^|\/)\.{1,2}(?:\/|$)/);
});

test("any parts give a valid path within the length limit", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 300 }), { maxLength: 8 }), (parts) => {
      const path = resourcePath("base", ...parts);
      expect(path).toMatch(/^base(?:\/[^\s/.\p{Cc}]+)*/u);
      expect(path.length).toBeLessThanOrEqual(380);
      expect(path.isWellFormed()).toBe(true);
      for (const segment of path.split("/")) expect(segment).not.toBe("");
    }),
  );
});

test("long paths that differ at their end stay different", () => {
  const deep = Array.from({ length: 20 }, () => "a-rather-long-segment-of-a-path");
  expect(resourcePath(...deep, "one")).not.toBe(resourcePath(...deep, "two"));
});

test("a taken name gets the next free number", () => {
  const taken = new Set<string>();
  const names = ["c", "c-2", "c", "c"].map((name) => uniqueName(name, taken));
  expect(names).toEqual(["c", "c-2", "c-3", "c-4"]);
  expect(slug("  What's *new*? ")).toBe("what-s-new");
  expect(slug("***")).toBe("part");
});
