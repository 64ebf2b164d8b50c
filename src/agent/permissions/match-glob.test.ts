import fc from "fast-check";
import { expect, test } from "vitest";
import { compileGlob, escapeGlob } from "./match-glob.ts";

test.each([
  ["src/**", "src/a/b.ts", true],
  ["src/**", "src", true],
  ["src/**", "srcs/a", false],
  ["src/*", "src/a/b", false],
  ["**/*.ts", "a.ts", true],
  ["**/*.ts", "a/b/c.ts", true],
  ["**/b/**/d", "a/b/c/c/d", true],
  ["a?c", "abc", true],
  ["a?c", "a/c", false],
  ["[id].tsx", "[id].tsx", true],
  ["a\\*", "a*", true],
  ["a\\*", "ab", false],
  ["*.*", ".env", true],
])("%s on %s: %s", (pattern, path, expected) => {
  expect(compileGlob(pattern)(path)).toBe(expected);
});

test("sets of characters are optional", () => {
  const test = compileGlob("[!a-c]x[0-9]", { sets: true });
  expect([test("dx5"), test("bx5"), test("dxx")]).toEqual([true, false, false]);
});

test("an escaped text matches itself and nothing else", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, other) => {
      const matches = compileGlob(escapeGlob(text));
      expect(matches(text)).toBe(true);
      if (text !== other) expect(matches(other)).toBe(false);
    }),
  );
});

test("many wildcards take linear time", () => {
  expect(compileGlob(`${"*a".repeat(500)}b`)("a".repeat(5_000))).toBe(false);
});
