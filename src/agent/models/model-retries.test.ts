import { APICallError } from "@ai-sdk/provider";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Clock } from "../../base/util/clock.ts";
import {
  calculateDelay,
  isRetryableError,
  LONGEST_RETRY_AFTER_MS,
  type RetryContext,
  repeatFailing,
} from "./model-retries.ts";
import { retryConfigSchema } from "./models-config.ts";
import {
  MODEL_ERROR_CODES,
  type ModelProblem,
  modelProblem,
  toModelProblem,
} from "./providers/model-errors.ts";

const config = retryConfigSchema.parse({});

test("retries have these defaults", () => {
  expect(config).toEqual({
    enabled: true,
    maxRetries: 3,
    baseDelayMs: 1000,
    maxDelayMs: 10_000,
    enableJitter: true,
  });
});

test("jitter changes a delay by at most a quarter, and the maximum holds", () => {
  const fraction = fc.double({ min: 0, max: 1, noNaN: true });
  const times = [fc.nat(40), fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 60_000 })] as const;
  fc.assert(
    fc.property(...times, fraction, (attempt, base, max, chance) => {
      const planned = Math.min(base * 2 ** attempt, max);
      expect(calculateDelay(attempt, base, max, false)).toBe(planned);
      const delay = calculateDelay(attempt, base, max, true, () => chance);
      expect(delay).toBeGreaterThanOrEqual(planned * 0.75 - 0.5);
      expect(delay).toBeLessThanOrEqual(Math.min(planned * 1.25 + 0.5, max));
    }),
  );
});

test("only temporary failures are retried, up to the limit", async () => {
  const codes = fc.array(fc.constantFrom(...MODEL_ERROR_CODES), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(codes, fc.nat(5), async (failures, maxRetries) => {
      const { result, calls, waits } = await run(
        [...failures.map((code) => modelProblem(code, "no")), "yes"],
        { ...config, maxRetries },
      );
      const final = failures.findIndex((code) => !isRetryableError(code));
      const expected = Math.min(final === -1 ? failures.length : final, maxRetries);
      expect(calls).toBe(expected + 1);
      expect(waits).toHaveLength(expected);
      expect(result === "yes").toBe(expected === failures.length);
    }),
  );
});

test("three codes are temporary", () => {
  expect(MODEL_ERROR_CODES.filter(isRetryableError)).toEqual(["RATE_LIMITED", "NETWORK_ERROR", "TIMEOUT"]);
});

test("a provider's Retry-After replaces the planned delay", async () => {
  const { contexts, waits } = await run([
    modelProblem("RATE_LIMITED", "slow", { retryAfterMs: 30_000 }),
    "yes",
  ]);
  expect(waits).toEqual([30_000]);
  expect(contexts).toEqual([
    { attempt: 1, maxRetries: 3, delayMs: 30_000, error: "RATE_LIMITED", message: "slow" },
  ]);
});

test("a Retry-After that is too long is reported instead of waited for", async () => {
  const asked = modelProblem("RATE_LIMITED", "slow", { retryAfterMs: LONGEST_RETRY_AFTER_MS + 1 });
  const { result, waits } = await run([asked]);
  expect(result).toBe(asked);
  expect(waits).toEqual([]);
});

test("nothing is retried when retries are off", async () => {
  const { calls } = await run([modelProblem("TIMEOUT", "no")], { ...config, enabled: false });
  expect(calls).toBe(1);
});

test("a signal ends the wait", async () => {
  const controller = new AbortController();
  const clock: Clock = { now: () => 0, monotonic: () => 0, after: () => () => {} };
  const failure = modelProblem("TIMEOUT", "no");
  let calls = 0;
  const operation = async () => {
    calls += 1;
    throw failure;
  };
  const onRetry = () => queueMicrotask(() => controller.abort());
  const { signal } = controller;
  const retried = repeatFailing(operation, { config, clock, onRetry, signal, random: Math.random });
  await expect(retried).rejects.toBe(failure);
  expect(calls).toBe(1);
});

const NOW = Date.UTC(2026, 0, 1);

test.each([
  ["seconds", { "retry-after": "60" }, 60_000],
  ["part of a second", { "retry-after": " 1.5 " }, 1500],
  ["a date", { "retry-after": new Date(NOW + 5000).toUTCString() }, 5000],
  ["a date in the past", { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, 0],
  ["milliseconds", { "retry-after-ms": "250" }, 250],
  ["nonsense", { "retry-after": "soon" }, undefined],
  ["a negative number", { "retry-after": "-5" }, undefined],
  ["none", {}, undefined],
] as const)("Retry-After: %s", (_, responseHeaders, expected) => {
  const call = { provider: "x", secrets: [], now: NOW };
  const inner = new APICallError({ message: "busy", url: "", requestBodyValues: {}, responseHeaders });
  for (const error of [inner, new Error("wrapped", { cause: inner })])
    expect(toModelProblem(error, call).details.retryAfterMs).toBe(expected);
});

async function run(outcomes: readonly (ModelProblem | string)[], rules = config) {
  const waits: number[] = [];
  const contexts: RetryContext[] = [];
  let calls = 0;
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    after: (ms, wake) => {
      waits.push(ms);
      setImmediate(wake);
      return () => {};
    },
  };
  const operation = async () => {
    const outcome = outcomes[calls++];
    if (typeof outcome === "string") return outcome;
    throw outcome ?? modelProblem("UNKNOWN", "no more");
  };
  const onRetry = (context: RetryContext) => void contexts.push(context);
  const options = { config: rules, clock, onRetry, random: Math.random };
  const result: unknown = await repeatFailing(operation, options).catch((problem: unknown) => problem);
  return { result, calls, waits, contexts };
}
