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

test("a secret goes in every encoding, also inside longer base64", () => {
  const spell: Record<string, (text: string) => string> = {
    plain: (text) => text,
    json: (text) => JSON.stringify({ a: text }),
    "json in json": (text) => JSON.stringify(JSON.stringify({ a: text })),
    url: encodeURIComponent,
    "lower-case url": (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
    form: (text) => new URLSearchParams({ a: text }).toString(),
    base64: btoa,
    base64url: (text) => Buffer.from(text).toString("base64url"),
    "basic login": (text) => btoa(`user:${text}`),
    "base64 of JSON": (text) => btoa(`{"a":"${text}","b":1}`),
    hex: (text) => Buffer.from(text).toString("hex"),
    "upper-case hex": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  };
  const secret = fc.string({ minLength: 10, maxLength: 40, unit: fc.constantFrom(..."aB3/+=-_ &'\"$.~") });
  fc.assert(
    fc.property(secret, (hidden) => {
      fc.pre(hidden.trim().length >= 10);
      const redact = createRedact([hidden]);
      for (const [name, write] of Object.entries(spell)) {
        const shown = redact(`before ${write(hidden)} after`);
        expect([name, shown]).toEqual([name, expect.stringContaining("[secret]")]);
        expect(shown).not.toContain(write(hidden));
      }
    }),
  );
});
