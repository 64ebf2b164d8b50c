import fc from "fast-check";
import { expect, test } from "vitest";
import { createByteGatherer } from "./read-response.ts";

test("chunks of any sizes are gathered as they came, one time after the other", () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 40 });
  fc.assert(
    fc.property(fc.array(chunks, { maxLength: 4 }), (times) => {
      const gatherer = createByteGatherer();
      for (const given of times) {
        const kept = given.map((chunk) => Buffer.from(chunk));
        for (const chunk of given) gatherer.add(chunk);
        const whole = Buffer.concat(kept);
        expect(gatherer.size).toBe(whole.length);
        expect(gatherer.take()).toEqual(whole);
        expect(gatherer.size).toBe(0);
        // The chunks themselves are left alone.
        expect(given.map((chunk) => Buffer.from(chunk))).toEqual(kept);
      }
    }),
  );
});
