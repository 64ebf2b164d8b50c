import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineReader } from "./line-reader.ts";

test("lines do not depend on chunk boundaries", () => {
  const texts = fc.array(
    fc.string().map((text) => text.replaceAll("\n", "").toWellFormed()),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 9 }), (lines, size) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const read = createLineReader(10_000);
      const received: string[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        received.push(...(read(bytes.subarray(at, at + size)) ?? []));
      }
      expect(received).toEqual(lines);
    }),
  );
});

test("a line is refused as soon as it exceeds the limit", () => {
  const read = createLineReader(10);
  expect(read(Buffer.from("0123456789\n01234"))).toEqual(["0123456789"]);
  expect(read(Buffer.from("567890"))).toBeUndefined();
});
