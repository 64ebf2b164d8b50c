import fc from "fast-check";
import { expect, test } from "vitest";
import { toVisibleText } from "./visible-text.ts";

test("spells out characters that a terminal would obey or hide", () => {
  expect(toVisibleText("a\u001b[2Jb\u202ec\u{e0041}d\ne\u2028")).toBe(
    "a\\u{1b}[2Jb\\u{202e}c\\u{e0041}d\\u{a}e\\u{2028}",
  );
  expect(toVisibleText("Grüße 👩 <!-- said -->")).toBe("Grüße 👩 <!-- said -->");
});

test("leaves no control or invisible character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(toVisibleText(text)).not.toMatch(/[\p{C}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u);
    }),
  );
});
