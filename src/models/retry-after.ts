import { type ErrorFacts, errorFacts } from "./error-facts.ts";

/** The wait that a provider asks for, from its headers (seconds, milliseconds or a date) or its `retryAfter` field. */
export function extractRetryAfter(error: unknown, now: number = Date.now()): number | undefined {
  return retryAfterOf(errorFacts(error), now);
}

export function retryAfterOf({ headers, retryAfter }: ErrorFacts, now: number): number | undefined {
  return (
    fromMilliseconds(headers["retry-after-ms"]) ??
    fromHeader(headers["retry-after"], now) ??
    seconds(retryAfter)
  );
}

function fromHeader(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return seconds(Number(text));
  // Date.parse would read numbers such as -5 as years.
  const date = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function fromMilliseconds(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,12}$/.test(value) ? Number(value) : undefined;
}

function seconds(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 ? Math.ceil(value * 1000) : undefined;
}
