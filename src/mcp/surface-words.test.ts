import { expect, test } from "vitest";
import type { SurfaceOptions } from "../operations/surfaces.ts";
import { PROBLEMS } from "../schema/problems.ts";
import { createSurfaceWords } from "./surface-words.ts";

const NEXT = PROBLEMS.NOT_FOUND.next;

test.each<[string, SurfaceOptions, string]>([
  ["lanes", { surface: "lanes" }, "or call ask to find it."],
  ["routes", { surface: "routes" }, "or call ask to find it."],
  ["commands", { surface: "commands" }, "or call tool_help to find it."],
  ["commands with search", { surface: "commands", toolSearch: true }, "or call tool_search to find it."],
])("%s says what to call in its own names, in text and data", (_, options, ending) => {
  const [text, output] = createSurfaceWords(options)(`NOT_FOUND: There is no x. ${NEXT}`, {
    error: { next: NEXT, message: "call ask" },
  });
  expect(text.endsWith(ending)).toBe(true);
  expect(output.error.next.endsWith(ending)).toBe(true);
  expect(output.error.message).toBe("call ask");
});

test("no sentence of the problems names an operation that a surface does not have", () => {
  for (const options of [{ surface: "commands" }, { surface: "routes" }] as const) {
    const words = createSurfaceWords(options);
    const gone = options.surface === "commands" ? /call (ask|help|get|exec)\b/i : /call (help|exec)\b/i;
    for (const { next } of Object.values(PROBLEMS)) expect(words(next, {})[0]).not.toMatch(gone);
  }
});

test("what tools and documents say stays as it is", () => {
  const text = "The manual says: call exec with care.";
  const output = { result: text };
  expect(createSurfaceWords({ surface: "commands" })(text, output)).toEqual([text, output]);
});
