import { expect, test } from "vitest";
import { type LearningEvent, usedQueries } from "./learning-log.ts";

const by = { at: 1, scope: "s", conversation: "c" };
const asked = (query: string, shown: string[], more: Partial<LearningEvent> = {}) =>
  ({ ...by, kind: "asked", query, shown, ...more }) as LearningEvent;
const used = (route: string, conversation = "c"): LearningEvent => ({
  ...by,
  conversation,
  kind: "used",
  route,
});

test("a used entry belongs to the last ask of its conversation that showed it", () => {
  const events = [
    asked("old", ["a"]),
    asked("new", ["a", "b"]),
    used("a"),
    used("a"),
    used("c"),
    used("b", "another"),
    { ...by, kind: "failed", route: "b" } as const,
  ];
  expect(usedQueries(events)).toEqual([{ query: "new", route: "a" }]);
});

test("of several needs in one ask, the entry belongs to the one that it fits best", () => {
  const one = { ask: "1" };
  const events = [
    asked("book a room", ["a", "b"], { ...one, found: [["a", 1]] }),
    asked("send a mail", ["a", "b"], {
      ...one,
      found: [
        ["b", 1],
        ["a", 0.2],
      ],
    }),
    used("b"),
    used("a"),
  ];
  expect(usedQueries(events)).toEqual([
    { query: "send a mail", route: "b" },
    { query: "book a room", route: "a" },
  ]);
});
