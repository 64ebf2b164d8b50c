import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedact } from "./redact.ts";

test("removes secrets from texts, keys and nested values, in every spelling", () => {
  const redact = createRedact(["s3cr/et+1"]);
  const value = { "x-s3cr/et+1": ["token=s3cr%2Fet%2B1&a=1", { deep: 'is "s3cr/et+1"' }], n: 4 };
  expect(redact(value)).toEqual({ "x-[secret]": ["token=[secret]&a=1", { deep: 'is "[secret]"' }], n: 4 });
});

test("keeps text that is too short to be a secret", () => {
  expect(createRedact(["abc", ""])("abcdef")).toBe("abcdef");
});

test("a secret never survives, and redacting twice changes nothing more", () => {
  const secret = fc.string({ minLength: 6, maxLength: 20, unit: "grapheme-ascii" });
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (hidden, before, after) => {
      fc.pre(!"[secret]".includes(hidden));
      const redact = createRedact([hidden]);
      const once = redact(`${before}${hidden}${after}`);
      expect(redact(once)).toBe(redact(redact(once)));
      expect(once).toContain("[secret]");
    }),
  );
});
