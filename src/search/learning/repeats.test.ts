import { expect, test } from "vitest";
import { createRepeats } from "./follow-ups.ts";

const MINUTE = 60_000;

function noteAll(conversations: readonly string[], routes: string, gap = 1_000) {
  const repeats = createRepeats();
  for (const [index, conversation] of conversations.entries())
    for (const [at, route] of routes.split(" ").entries())
      repeats.note({ conversation, scope: "", route, at: index + at * gap });
  return repeats.list().map(({ routes: found, conversations: count }) => `${count}: ${found.join(" ")}`);
}

test("calls that three conversations make in the same order are told, the longest sequence only", () => {
  expect(noteAll(["a", "b", "c"], "list get get get update")).toEqual(["3: list get update"]);
  expect(noteAll(["a", "b", "c", "d"], "list get note update send")).toEqual([
    "4: list get note update send",
  ]);
});

test("fewer conversations, shorter sequences and calls far apart tell nothing", () => {
  expect(noteAll(["a", "b", "a", "b"], "list get update")).toEqual([]);
  expect(noteAll(["a", "b", "c"], "list get")).toEqual([]);
  expect(noteAll(["a", "b", "c"], "list get update", 11 * MINUTE)).toEqual([]);
});

test("a part that more conversations share is told too, and what saves more comes first", () => {
  const repeats = createRepeats();
  const note = (conversation: string, routes: string) => {
    for (const route of routes.split(" ")) repeats.note({ conversation, scope: "", route, at: 0 });
  };
  for (const name of ["a", "b", "c"]) note(name, "1 2 3 4");
  for (const name of ["d", "e", "f", "g"]) note(name, "1 2 3");
  expect(repeats.list().map(({ routes }) => routes.join(" "))).toEqual(["1 2 3", "1 2 3 4"]);
});
