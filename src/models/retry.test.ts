import fc from "fast-check";
import { expect, test } from "vitest";
import type { Clock } from "../util/clock.ts";
import { retryConfigSchema } from "./models-config.ts";
import {
  errorResponse,
  MODEL_ERROR_CODES,
  type ModelResponse,
  successResponse,
} from "./providers/model-response.ts";
import {
  calculateDelay,
  isRetryableError,
  LONGEST_RETRY_AFTER_MS,
  type RetryContext,
  withRetry,
} from "./retry.ts";
import { extractRetryAfter } from "./retry-after.ts";

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
      const { response, calls, waits } = await run(
        [...failures.map((code) => errorResponse(code, "no")), successResponse("yes", "ok")],
        { ...config, maxRetries },
      );
      const final = failures.findIndex((code) => !isRetryableError(code));
      const expected = Math.min(final === -1 ? failures.length : final, maxRetries);
      expect(calls).toBe(expected + 1);
      expect(waits).toHaveLength(expected);
      expect(response.success).toBe(expected === failures.length);
    }),
  );
});

test("three codes are temporary", () => {
  expect(MODEL_ERROR_CODES.filter(isRetryableError)).toEqual(["RATE_LIMITED", "NETWORK_ERROR", "TIMEOUT"]);
});

test("a provider's Retry-After replaces the planned delay", async () => {
  const { contexts, waits } = await run([
    errorResponse("RATE_LIMITED", "slow", 30_000),
    successResponse(1, "ok"),
  ]);
  expect(waits).toEqual([30_000]);
  expect(contexts).toEqual([
    { attempt: 1, maxRetries: 3, delayMs: 30_000, error: "RATE_LIMITED", message: "slow" },
  ]);
});

test("a Retry-After that is too long is reported instead of waited for", async () => {
  const asked = errorResponse("RATE_LIMITED", "slow", LONGEST_RETRY_AFTER_MS + 1);
  const { response, waits } = await run([asked]);
  expect(response).toEqual(asked);
  expect(waits).toEqual([]);
});

test("nothing is retried when retries are off", async () => {
  const { calls } = await run([errorResponse("TIMEOUT", "no")], { ...config, enabled: false });
  expect(calls).toBe(1);
});

test("a signal ends the wait", async () => {
  const controller = new AbortController();
  const clock: Clock = { now: () => 0, monotonic: () => 0, after: () => () => {} };
  let calls = 0;
  const operation = async () => {
    calls += 1;
    return errorResponse("TIMEOUT", "no");
  };
  const onRetry = () => queueMicrotask(() => controller.abort());
  const response = await withRetry(operation, { config, clock, onRetry, signal: controller.signal });
  expect(response).toEqual(errorResponse("TIMEOUT", "no"));
  expect(calls).toBe(1);
});

const NOW = Date.UTC(2026, 0, 1);

test.each([
  ["seconds", { responseHeaders: { "retry-after": "60" } }, 60_000],
  ["seconds, in any spelling of the header", { headers: { "Retry-After": " 1.5 " } }, 1500],
  ["a Headers object", { headers: new Headers({ "retry-after": "2" }) }, 2000],
  ["a date", { responseHeaders: { "retry-after": new Date(NOW + 5000).toUTCString() } }, 5000],
  ["a date in the past", { responseHeaders: { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" } }, 0],
  ["a number field", { retryAfter: 30 }, 30_000],
  ["a number field within", { cause: { retryAfter: 3 } }, 3000],
  ["milliseconds", { responseHeaders: { "retry-after-ms": "250" } }, 250],
  ["nonsense", { responseHeaders: { "retry-after": "soon" } }, undefined],
  ["a negative number", { responseHeaders: { "retry-after": "-5" } }, undefined],
  ["none", new Error("x"), undefined],
] as const)("Retry-After: %s", (_, error, expected) => {
  expect(extractRetryAfter(error, NOW)).toBe(expected);
});

async function run<T>(responses: readonly ModelResponse<T>[], rules = config) {
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
  const operation = async () => responses[calls++] ?? errorResponse("UNKNOWN", "no more");
  const onRetry = (context: RetryContext) => void contexts.push(context);
  const response = await withRetry(operation, { config: rules, clock, onRetry });
  return { response, calls, waits, contexts };
}
