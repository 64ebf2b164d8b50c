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
    overloadMs: 0,
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
  const retryAfterMs = 2 * 3_600_000 + 5 * 60_000;
  const asked = modelProblem("RATE_LIMITED", "slow", { retryAfterMs, isOverload: true });
  const { result, waits } = await run([asked], { ...config, overloadMs: 10 * LONGEST_RETRY_AFTER_MS });
  expect(result).toMatchObject({
    code: "RATE_LIMITED",
    message: "slow. It asks to wait 2 h 5 min, until 1970-01-01 02:05 UTC.",
    details: { retryAfterMs },
  });
  expect(waits).toEqual([]);
});

test("an overloaded provider is asked again for minutes, with growing delays", async () => {
  const overload = modelProblem("RATE_LIMITED", "overloaded", { isOverload: true });
  const rules = { ...config, overloadMs: 300_000, enableJitter: false };
  const { result, waits } = await run([...Array(8).fill(overload), "yes"], rules);
  expect(result).toBe("yes");
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  const never = await run(Array(50).fill(overload), rules);
  expect(never.result).toBe(overload);
  const total = never.waits.reduce((sum, wait) => sum + wait, 0);
  expect(total).toBeGreaterThan(240_000);
  expect(total).toBeLessThanOrEqual(300_000);
});

test("an overloaded provider that asks for no wait is not asked without end", async () => {
  const asked = modelProblem("RATE_LIMITED", "busy", { retryAfterMs: 0, isOverload: true });
  const rules = { ...config, overloadMs: 300_000, enableJitter: false };
  const { waits } = await run(Array(1_000).fill(asked), rules);
  expect(waits.length).toBeLessThan(50);
});

test("a long Retry-After is waited for while there is time", async () => {
  const asked = modelProblem("RATE_LIMITED", "slow", { retryAfterMs: 240_000, isOverload: true });
  expect((await run([asked, "yes"], { ...config, overloadMs: 300_000 })).waits).toEqual([240_000]);
});

test("an account without credit is named and not asked again", async () => {
  const call = { provider: "anthropic", secrets: [], now: NOW };
  const refused = [
    [400, "Your credit balance is too low to access the Anthropic API.", {}],
    [429, "You exceeded your current quota.", { error: { type: "insufficient_quota" } }],
    [402, "Payment Required", {}],
  ] as const;
  for (const [statusCode, message, body] of refused) {
    const responseBody = JSON.stringify(body);
    const error = new APICallError({ message, statusCode, url: "", requestBodyValues: {}, responseBody });
    const problem = toModelProblem(error, call);
    expect(problem.message).toMatch(/^The account at anthropic has no credit left\./);
    expect(problem.next).toContain("Add credit");
    expect((await run([problem, "yes"], { ...config, overloadMs: 300_000 })).waits).toEqual([]);
  }
});

test.each([429, 503, 529])("status %i is an overload", (statusCode) => {
  const error = new APICallError({ message: "busy", statusCode, url: "", requestBodyValues: {} });
  const { details } = toModelProblem(error, { provider: "x", secrets: [], now: NOW });
  expect(details.isOverload).toBe(true);
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
