import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_TOKENS } from "../session/tokens-by-cause.ts";
import { contextLines } from "./context-bar.ts";
import { toContextReport } from "./context-report.ts";

test("the ledger gives the breakdown of the last request", () => {
  const tokens = { ...NO_TOKENS, menu: 1_200, ask: 100, rules: 20, skills: 30, results: 250 };
  const ledger = { tokens, total: 1_600, everything: 40_000 };
  expect(toContextReport(ledger, { requests: 3, lastInput: 1_000 })).toEqual({
    menu: 400,
    discovery: 150,
    results: 250,
    history: 200,
    everything: 40_000,
  });
});

test("the bar fills its width, and every part that is not empty has a sign", () => {
  const tokens = fc.nat({ max: 1_000_000 });
  const report = fc.record({
    menu: tokens,
    discovery: tokens,
    results: tokens,
    history: tokens,
    everything: tokens,
  });
  fc.assert(
    fc.property(report, fc.integer({ min: 20, max: 200 }), (given, columns) => {
      const [bar = ""] = contextLines(given, columns);
      expect(bar).toHaveLength(Math.min(60, columns - 2));
      const signs = { menu: "█", discovery: "▓", results: "▒", history: "░" } as const;
      for (const [name, sign] of Object.entries(signs)) {
        expect(bar.includes(sign)).toBe(given[name as keyof typeof signs] > 0);
      }
    }),
  );
});
