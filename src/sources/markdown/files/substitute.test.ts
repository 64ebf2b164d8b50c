import fc from "fast-check";
import { expect, test } from "vitest";
import { namesAllArguments, substitute } from "./parse-file.ts";

const slot = (name: string) => `$\{${name}}`;
const argumentsOf = (...names: string[]) => names.map((name) => ({ name, required: false }));

test("replaces named placeholders and $ARGUMENTS, and keeps those without a value", () => {
  const declared = argumentsOf("language", "purpose", "left-out");
  const given = { language: "TypeScript", purpose: "an API" };
  const template = `Build ${slot("purpose")} in ${slot("language")}: $ARGUMENTS. ${slot("left-out")} ${slot("unknown")} $ARGUMENTSX`;
  expect(substitute(template, declared, given)).toBe(
    `Build an API in TypeScript: TypeScript. ${slot("left-out")} ${slot("unknown")} $ARGUMENTSX`,
  );
});

test("$ARGUMENTS stands for the first given argument", () => {
  expect(substitute("$ARGUMENTS", argumentsOf("one", "two"), { two: "2" })).toBe("2");
  expect(substitute("$ARGUMENTS", argumentsOf("one"), {})).toBe("$ARGUMENTS");
  expect(namesAllArguments("do $ARGUMENTS")).toBe(true);
  expect(namesAllArguments("do $ARGUMENTSX")).toBe(false);
});

test("names such as constructor are ordinary names", () => {
  const template = `${slot("constructor")} ${slot("__proto__")} ${slot("toString")}`;
  expect(substitute(template, argumentsOf("constructor"), { constructor: "built" })).toBe(
    `built ${slot("__proto__")} ${slot("toString")}`,
  );
  expect(substitute(template, argumentsOf("toString"), {})).toBe(template);
});

test("never substitutes within a substituted value", () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(slot("a"), slot("b"), "$ARGUMENTS", "$", "${", "}", "$$", "$&", "$1"),
  );
  const value = fc.array(piece, { maxLength: 4 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(value, value, (a, b) => {
      const declared = argumentsOf("a", "b");
      const template = `1${slot("a")}2${slot("b")}3$ARGUMENTS 4`;
      expect(substitute(template, declared, { a, b })).toBe(`1${a}2${b}3${a} 4`);
    }),
  );
});
