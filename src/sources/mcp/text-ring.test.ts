import fc from "fast-check";
import { expect, test } from "vitest";
import { createTextRing } from "./stdio-transport.ts";

test("a ring keeps the end of a text", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme-ascii" })),
      fc.integer({ min: 1, max: 40 }),
      (parts, size) => {
        const ring = createTextRing(size);
        for (const part of parts) ring.add(Buffer.from(part));
        const all = parts.join("");
        expect(ring.text()).toBe(all.slice(Math.max(0, all.length - size)));
      },
    ),
  );
});
