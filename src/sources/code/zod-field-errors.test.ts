import { describe, expect, test } from "vitest";
import { z } from "zod";
import { zodFieldErrors } from "./input-schema.ts";

const task = z.strictObject({
  title: z.string().min(3),
  priority: z.enum(["low", "high"]).optional(),
  count: z.int().min(1).max(9).optional(),
  dueAt: z.iso.datetime().optional(),
  code: z.string().regex(/^a/).startsWith("a").optional(),
  step: z.number().multipleOf(5).optional(),
  size: z.union([z.string(), z.null(), z.literal(7)]).optional(),
  rows: z
    .array(z.strictObject({ name: z.string() }))
    .max(2)
    .optional(),
  shape: z.union([z.object({ kind: z.literal("box"), side: z.number() }), z.string()]).optional(),
  event: z
    .discriminatedUnion("on", [z.object({ on: z.literal("open") }), z.object({ on: z.literal("close") })])
    .optional(),
  even: z
    .number()
    .refine((value) => value % 2 === 0, "has to be even")
    .optional(),
});

function errorsOf(input: unknown): string[] {
  const parsed = task.safeParse(input);
  if (parsed.success) return [];
  return zodFieldErrors(parsed.error, input, Object.keys(task.shape)).map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

describe("zodFieldErrors", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["type", { title: 5 }, "title: must be a string, got number 5"],
    ["missing", {}, "title: is required"],
    ["length", { title: "ab" }, 'title: must have at least 3 characters, got string "ab"'],
    ["enum", { title: "abc", priority: "hgh" }, 'priority: must be one of "low", "high", got string "hgh"'],
    ["low", { title: "abc", count: 0 }, "count: must be at least 1, got number 0"],
    ["high", { title: "abc", count: 10 }, "count: must be at most 9, got number 10"],
    ["integer", { title: "abc", count: 1.5 }, "count: must be an integer, got number 1.5"],
    ["multiple", { title: "abc", step: 3 }, "step: must be a multiple of 5, got number 3"],
    ["union", { title: "abc", size: true }, "size: must be 7 or a string or null, got boolean true"],
    [
      "items",
      { title: "abc", rows: new Array(3).fill({ name: "x" }) },
      "rows: must have at most 2 items, got array of 3",
    ],
    ["path", { title: "abc", rows: [{ name: 1 }] }, "rows[0].name: must be a string, got number 1"],
    ["nested name", { title: "abc", rows: [{ name: "x", nme: 1 }] }, "rows[0].nme: is not known"],
    [
      "form",
      { title: "abc", shape: { kind: "box" } },
      "shape: must fit one of the allowed forms: side is required",
    ],
    [
      "kind",
      { title: "abc", event: { on: "x" } },
      'event.on: must be one of "open", "close", got string "x"',
    ],
    ["own words", { title: "abc", even: 3 }, "even: has to be even"],
    [
      "format",
      { title: "abc", dueAt: "soon" },
      'dueAt: must be a date and time with its zone, such as 2026-01-31T09:00:00Z, got string "soon"',
    ],
  ])("says what is wrong: %s", (_, input, message) => {
    expect(errorsOf(input)).toEqual([message]);
  });

  test("says which of two text rules is broken", () => {
    expect(errorsOf({ title: "abc", code: "b" })).toEqual([
      'code: must match the pattern /^a/, got string "b"',
      'code: must start with "a", got string "b"',
    ]);
  });

  test("names the nearest argument for an unknown one", () => {
    const input = { titel: "abc" };
    const parsed = task.safeParse(input);
    expect(parsed.error && zodFieldErrors(parsed.error, input, Object.keys(task.shape))).toEqual([
      { field: "title", message: 'is required; rename "titel" to "title" if you meant that' },
      { field: "titel", message: 'is not known; did you mean "title"?', nearest: "title" },
    ]);
  });

  test("reports at most twenty errors, and reads no inherited members", () => {
    const many = z.array(z.string()).safeParse(new Array(500).fill(1));
    expect(many.error && zodFieldErrors(many.error, new Array(500).fill(1), [])).toHaveLength(20);
    const odd = z.object({ constructor: z.string() }).safeParse({});
    expect(odd.error && zodFieldErrors(odd.error, {}, ["constructor"])).toEqual([
      { field: "constructor", message: "is required" },
    ]);
  });
});
