import fc from "fast-check";
import { expect, test } from "vitest";
import { createEventMeter } from "./web-fetch.ts";

const encode = (text: string) => new TextEncoder().encode(text);

test("the size of an event does not depend on chunk boundaries", () => {
  const event = fc
    .array(fc.stringMatching(/^[a-z]{1,20}$/), { minLength: 1, maxLength: 5 })
    .map((lines) => `${lines.map((line) => `data: ${line}`).join("\n")}\n\n`);
  fc.assert(
    fc.property(
      fc.array(event, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(40), { maxLength: 20 }),
      fc.boolean(),
      (events, cuts, returns) => {
        const sent = events.map((one) => (returns ? one.replaceAll("\n", "\r\n") : one));
        const bytes = encode(sent.join(""));
        const measure = createEventMeter();
        let largest = 0;
        let from = 0;
        for (const length of [...cuts, bytes.length]) {
          const chunk = bytes.subarray(from, from + length);
          largest = Math.max(largest, measure(chunk));
          from += chunk.length;
        }
        expect(largest).toBe(Math.max(...sent.map(({ length }) => length)));
      },
    ),
  );
});

test("an endless line counts as one growing event", () => {
  const measure = createEventMeter();
  const sizes = Array.from({ length: 4 }, () => measure(encode("data: more\r\n")));
  expect(sizes).toEqual([12, 24, 36, 48]);
});
