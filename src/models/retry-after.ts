import { parseRetryAfter } from "../util/parse-retry-after.ts";
import { type ErrorFacts, errorFacts } from "./error-facts.ts";

/** The wait that a provider asks for, from its headers (seconds, milliseconds or a date) or its `retryAfter` field. */
export function extractRetryAfter(error: unknown, now: number = Date.now()): number | undefined {
  return retryAfterOf(errorFacts(error), now);
}

export function retryAfterOf({ headers, retryAfter }: ErrorFacts, now: number): number | undefined {
  return (
    fromMilliseconds(headers["retry-after-ms"]) ??
    parseRetryAfter(headers["retry-after"], now) ??
    seconds(retryAfter)
  );
}

function fromMilliseconds(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,12}$/.test(value) ? Number(value) : undefined;
}

function seconds(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 ? Math.ceil(value * 1000) : undefined;
}
