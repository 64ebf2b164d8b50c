import fc from "fast-check";
import { expect, test } from "vitest";
import { OPERATIONS } from "./operations.ts";
import { readInput } from "./read-input.ts";

const names = ["op", "route", "args", "dry_run", "session", "idempotency_key", "tool", "__proto__", "more"];
const values = fc.oneof(
  fc.constantFrom<unknown>(
    "",
    "a.b",
    "x".repeat(2_000),
    "x".repeat(2_001),
    "{}",
    true,
    false,
    null,
    undefined,
    1,
  ),
  fc.constantFrom<unknown>([], {}, { text: "one" }, { __proto__: null, text: "one" }),
  fc.string(),
);
const inputs = fc
  .array(fc.tuple(fc.constantFrom(...names), values), { maxLength: 5 })
  .map((fields) => JSON.parse(toText(fields)) as unknown);

test("an input that is taken as it is would be read as the same by the schema", () => {
  let taken = 0;
  fc.assert(
    fc.property(inputs, (given) => {
      for (const operation of Object.values(OPERATIONS)) {
        const { isAlreadyValid, ...bySchema } = operation as (typeof OPERATIONS)["exec"];
        if (!isAlreadyValid?.(given as never)) continue;
        taken += 1;
        expect(readInput(bySchema, given)).toEqual({ input: given, ignored: [] });
      }
    }),
    { numRuns: 5_000, examples: [[{ op: "a.b" }], [{ op: "a.b", args: { text: "one" }, dry_run: false }]] },
  );
  expect(taken).toBeGreaterThan(1);
});

/** As it comes from a client: a key `__proto__` is a field like any other. */
function toText(fields: readonly (readonly [string, unknown])[]): string {
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? null}`).join(",")}}`;
}
