import { expect, test } from "vitest";
import { readExpiry } from "./agent-keys.ts";

const NOW = Date.parse("2026-11-17T00:00:00Z");

test.each([
  ["90m", "2026-11-17T01:30:00Z"],
  ["12h", "2026-11-17T12:00:00Z"],
  ["30d", "2026-12-17T00:00:00Z"],
  ["1w", "2026-11-24T00:00:00Z"],
  ["2027-01-31", "2027-01-31T00:00:00Z"],
  ["2027-01-31T10:00:00Z", "2027-01-31T10:00:00Z"],
])("%s ends at %s", (text, end) => {
  expect(readExpiry(text, NOW)).toBe(Date.parse(end));
});

test.each(["", "soon", "0d", "-1d", "5y", "2020-01-01", "2026-13-40", "1e9d"])("%j is refused", (text) => {
  expect(readExpiry(text, NOW)).toBeUndefined();
});
