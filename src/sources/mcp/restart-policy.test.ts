import { expect, test } from "vitest";
import { createRestartPolicy } from "./connection.ts";

function policy(random = 1) {
  const clock = { now: 0 };
  const limits = { restarts: 5, restartWindowMs: 600_000, backoffMs: 100 };
  const made = createRestartPolicy(
    limits,
    () => clock.now,
    () => random,
  );
  return { clock, made };
}

test("the first start needs no wait, each further one waits twice as long", () => {
  const { made } = policy();
  const delays = Array.from({ length: 5 }, () => {
    const delay = made.delay();
    made.started();
    return delay;
  });
  expect(delays).toEqual([0, 100, 200, 400, 800]);
});

test("half of a delay is random", () => {
  const { made } = policy(0);
  made.started();
  expect(made.delay()).toBe(50);
});

test("five restarts in ten minutes are the limit; an hour later they no longer count", () => {
  const { made, clock } = policy();
  for (let count = 0; count < 6; count += 1) {
    expect(made.exhaustedFor()).toBe(0);
    made.started();
    clock.now += 1_000;
  }
  expect(made.exhaustedFor()).toBe(594_000);
  clock.now += 3_600_000;
  expect(made.exhaustedFor()).toBe(0);
  expect(made.delay()).toBe(0);
});
