import { expect, test } from "vitest";
import { singleFlight } from "./single-flight.ts";

function gated() {
  const runs: { readonly signal: AbortSignal; readonly gate: PromiseWithResolvers<number> }[] = [];
  const fly = singleFlight((signal) => {
    const gate = Promise.withResolvers<number>();
    runs.push({ signal, gate });
    return gate.promise;
  });
  return { runs, fly };
}

test("callers join a run under way, later callers start a new one", async () => {
  const { runs, fly } = gated();
  const both = Promise.all([fly(), fly()]);
  await Promise.resolve();
  expect(runs).toHaveLength(1);
  runs[0]?.gate.resolve(1);
  expect(await both).toEqual([1, 1]);
  const again = fly();
  await Promise.resolve();
  runs[1]?.gate.resolve(2);
  expect(await again).toBe(2);
  expect(runs.some(({ signal }) => signal.aborted)).toBe(false);
});

test("a caller who leaves does not end the run for others", async () => {
  const { runs, fly } = gated();
  const leaving = new AbortController();
  const left = fly(leaving.signal);
  const stays = fly();
  await Promise.resolve();
  leaving.abort();
  await expect(left).rejects.toThrow("aborted");
  expect(runs[0]?.signal.aborted).toBe(false);
  runs[0]?.gate.resolve(3);
  expect(await stays).toBe(3);
});

test("the run is cancelled when all callers left, and the next starts after it", async () => {
  const { runs, fly } = gated();
  const leaving = new AbortController();
  const left = fly(leaving.signal);
  await Promise.resolve();
  leaving.abort();
  await expect(left).rejects.toThrow("aborted");
  expect(runs[0]?.signal.aborted).toBe(true);
  const next = fly();
  await new Promise(setImmediate);
  expect(runs).toHaveLength(1);
  runs[0]?.gate.reject(new Error("cancelled"));
  await new Promise(setImmediate);
  runs[1]?.gate.resolve(4);
  expect(await next).toBe(4);
});

test("a failure reaches every caller once and is not kept", async () => {
  const { runs, fly } = gated();
  const outcomes = Promise.allSettled([fly(), fly()]);
  await Promise.resolve();
  runs[0]?.gate.reject(new Error("no"));
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const again = fly();
  await new Promise(setImmediate);
  runs[1]?.gate.resolve(5);
  expect(await again).toBe(5);
});
