import { expect, test } from "vitest";
import { parseRetryAfter } from "./status-problem.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");

test.each([
  ["whole seconds", "60", 60_000],
  ["decimal seconds with spaces", " 1.5 ", 1_500],
  ["a date in the future", new Date(NOW + 5_000).toUTCString(), 5_000],
  ["a date in the past", "Wed, 21 Oct 2015 07:28:00 GMT", 0],
  ["a negative number", "-5", undefined],
  ["a number that is too long", "12345678901", undefined],
  ["a word", "soon", undefined],
  ["an empty header", "", undefined],
  ["no header", null, undefined],
])("parses %s", (_, header, expected) => {
  expect(parseRetryAfter(header, NOW)).toBe(expected);
});
