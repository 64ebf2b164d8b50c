import fc from "fast-check";
import { expect, test } from "vitest";
import { contextLines, foldLines } from "./block-text.ts";

test("the bar fills its width, and every part that is not empty has a sign and a line", () => {
  const names = ["tools", "instructions", "prompts", "results"];
  const parts = fc.tuple(
    ...names.map((name) => fc.nat({ max: 1_000_000 }).map((tokens) => ({ name, tokens }))),
  );
  fc.assert(
    fc.property(parts, fc.integer({ min: 20, max: 200 }), (given, columns) => {
      const total = given.reduce((sum, { tokens }) => sum + tokens, 0);
      const report = { parts: given, total, window: 200_000, assumed: false, everything: 9 };
      const [bar = "", ...lines] = contextLines(report, columns);
      expect(bar).toHaveLength(Math.min(60, columns - 2));
      const shown = given.filter(({ tokens }) => tokens > 0);
      if (total > 0) expect(new Set(bar).size).toBe(shown.length);
      for (const { name } of shown) expect(lines.some((line) => line.slice(2).startsWith(name))).toBe(true);
    }),
  );
});

test("a long output of a command shows its last lines, and a failure its exit code first", () => {
  const lines = ["one", "two", "three", "four", "five"].join("\n");
  expect(foldLines(lines, "shell")).toEqual(["… 2 more lines, Ctrl-O shows all", "three", "four", "five"]);
  expect(foldLines(`exit code 1\n${lines}`, "shell", true)).toEqual([
    "exit code 1",
    "… 3 more lines, Ctrl-O shows all",
    "four",
    "five",
  ]);
});
