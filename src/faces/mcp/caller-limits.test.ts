import fc from "fast-check";
import { expect, test } from "vitest";
import { createCallerLimits } from "./caller-limits.ts";

test("admits no more requests than burst and rate allow, over any time", () => {
  const step = fc.record({ wait: fc.nat(400), caller: fc.constantFrom("ann", "bob") });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let time = 0;
      const limits = createCallerLimits({ ratePerSecond: 4, burst: 5, concurrency: 1_000, now: () => time });
      const entered: Record<string, number> = { ann: 0, bob: 0 };
      for (const { wait, caller } of steps) {
        time += wait;
        const outcome = limits.enter(caller);
        if ("release" in outcome) entered[caller]! += 1;
        else expect(outcome.retryAfter).toBeGreaterThanOrEqual(1);
        expect(entered[caller]).toBeLessThanOrEqual(5 + (time / 1000) * 4 + 1e-9);
      }
    }),
  );
});

test("counts a running request until its first release", () => {
  const limits = createCallerLimits({ concurrency: 2 });
  const [first, second] = [limits.enter("ann"), limits.enter("ann")];
  expect(limits.enter("ann")).toEqual({ retryAfter: 1 });
  expect(limits.enter("bob")).toHaveProperty("release");
  if ("release" in first) for (let count = 0; count < 3; count++) first.release();
  expect(second).toHaveProperty("release");
  expect(limits.enter("ann")).toHaveProperty("release");
  expect(limits.enter("ann")).toEqual({ retryAfter: 1 });
  expect(limits.enter("ann", true)).toHaveProperty("release");
});

test("counts and limits streams apart from calls", () => {
  const limits = createCallerLimits({ concurrency: 1, streams: 2 });
  const [first] = [limits.enter("ann", true), limits.enter("ann", true)];
  expect(limits.enter("ann", true)).toEqual({ retryAfter: 1 });
  expect(limits.enter("bob", true)).toHaveProperty("release");
  expect(limits.enter("ann")).toHaveProperty("release");
  if ("release" in first) first.release();
  expect(limits.enter("ann", true)).toHaveProperty("release");
});
