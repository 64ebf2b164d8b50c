import { expect, test } from "vitest";
import type { KeyholeEvent } from "./events.ts";
import { LOG_LEVELS, type LogLineLevel, toLogLine } from "./log-line.ts";

const EVENTS: readonly KeyholeEvent[] = [
  { type: "source", source: "markdown:notes", state: "loading" },
  { type: "source", source: "recipes", state: "loaded", entries: 0 },
  { type: "source", source: "markdown:notes", state: "loaded", entries: 3 },
  { type: "notice", notice: "content-failed", detail: "notes/a.md:2:1: it is\nnot closed" },
  { type: "source", source: "mcp:shop", state: "failed", detail: "refused" },
];

test("each level tells its own events and the graver ones, one line each", () => {
  const linesAt = (level: LogLineLevel) => EVENTS.flatMap((event) => toLogLine(event, level) ?? []);
  const all = linesAt("debug");
  expect(all).toEqual([
    "keyhole debug: markdown:notes loading",
    "keyhole debug: recipes loaded, 0 entries",
    "keyhole info: markdown:notes loaded, 3 entries",
    "keyhole warn: content-failed: notes/a.md:2:1: it is not closed",
    "keyhole error: mcp:shop failed: refused",
  ]);
  for (const level of LOG_LEVELS) {
    const told = LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)).map((one) => `keyhole ${one}: `);
    expect(linesAt(level)).toEqual(
      all.filter((line) => told.some((beginning) => line.startsWith(beginning))),
    );
  }
});
