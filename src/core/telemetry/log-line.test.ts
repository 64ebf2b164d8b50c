import { expect, test } from "vitest";
import type { KeyholeEvent } from "./events.ts";
import { createLogLines, LOG_LEVELS, type LogLineLevel } from "./log-line.ts";

const EVENTS: readonly KeyholeEvent[] = [
  { type: "source", source: "markdown:notes", state: "loading" },
  { type: "source", source: "recipes", state: "loaded", entries: 0 },
  { type: "source", source: "markdown:notes", state: "loaded", entries: 3 },
  { type: "notice", notice: "content-failed", detail: "notes/a.md:2:1: it is\nnot closed" },
  { type: "source", source: "mcp:shop", state: "failed", detail: "refused" },
];

test("each level tells its own events and the graver ones, one line each", () => {
  const linesAt = (level: LogLineLevel) => linesOf(EVENTS, level);
  const all = linesAt("debug");
  expect(all).toEqual([
    "2026-11-18T05:00:00Z keyhole debug: markdown:notes loading",
    "2026-11-18T05:00:00Z keyhole debug: recipes loaded, 0 entries",
    "2026-11-18T05:00:00Z keyhole info: markdown:notes loaded, 3 entries",
    "2026-11-18T05:00:00Z keyhole warn: content-failed: notes/a.md:2:1: it is not closed",
    "2026-11-18T05:00:00Z keyhole error: mcp:shop failed: refused",
  ]);
  for (const level of LOG_LEVELS) {
    const told = LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)).map(
      (one) => `2026-11-18T05:00:00Z keyhole ${one}: `,
    );
    expect(linesAt(level)).toEqual(
      all.filter((line) => told.some((beginning) => line.startsWith(beginning))),
    );
  }
});

test("a failure is one line that names the server once, told again when its cause changes or the server was back", () => {
  const failure = (detail: string): KeyholeEvent[] => [
    { type: "notice", notice: "source-refused", detail: `mcp:shop: ${detail}` },
    { type: "source", source: "mcp:shop", state: "failed", detail },
  ];
  const down = failure("The server shop exists but cannot be used now (server_down): it cannot be started");
  const lines = linesOf(
    [
      ...down,
      { type: "source", source: "mcp:shop", state: "loading" },
      ...down,
      ...down,
      ...failure("it answered 500"),
      ...down,
      { type: "source", source: "mcp:shop", state: "loaded", entries: 1 },
      ...down,
    ],
    "info",
  );
  const sentence =
    "keyhole error: The server shop exists but cannot be used now (server_down): it cannot be started";
  expect(lines.map((line) => line.replace(/^\S+ /, ""))).toEqual([
    sentence,
    "keyhole error: mcp:shop failed: it answered 500",
    sentence,
    "keyhole info: mcp:shop loaded, 1 entry",
    sentence,
  ]);
});

function linesOf(events: readonly KeyholeEvent[], level: LogLineLevel): string[] {
  const toLine = createLogLines(level, () => new Date("2026-11-18T05:00:00.123Z"));
  return events.flatMap((event) => toLine(event) ?? []);
}
