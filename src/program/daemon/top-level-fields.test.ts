import fc from "fast-check";
import { expect, test } from "vitest";
import { createOutline } from "./lines.ts";

const outlineOf = (text: string, size = 3) => {
  const outline = createOutline();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) outline.add(bytes.subarray(at, at + size));
  return outline.take().toString();
};

test("an outline has the fields of a message, and nothing of what they hold", () => {
  const params = { id: 7, list: [{ id: 8 }], text: '"}]\\' };
  expect(outlineOf(JSON.stringify({ method: "a\\", params, id: 'x"{' }))).toBe(
    '{"method":"a\\\\","params":{},"id":"x\\"{"}',
  );
});

test("the fields of any object that are no objects are told as they are", () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 3 }), fc.integer({ min: 1, max: 9 }), (object, size) => {
      const whole = JSON.parse(JSON.stringify(object));
      const plain = Object.entries(whole).map(([key, value]) => [
        key,
        typeof value !== "object" || value === null ? value : Array.isArray(value) ? [] : {},
      ]);
      expect(JSON.parse(outlineOf(JSON.stringify(object), size))).toEqual(Object.fromEntries(plain));
    }),
  );
});

test("a large first level is cut off", () => {
  expect(outlineOf(JSON.stringify({ id: 1, text: "x".repeat(100_000) })).length).toBeLessThan(5_000);
});
