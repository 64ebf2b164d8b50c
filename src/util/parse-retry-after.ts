/**
 * Reads a `Retry-After` header: seconds (whole or decimal) or an HTTP date. Returns milliseconds from `now`,
 * never negative, or undefined if there is no header or it has neither form.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Date.parse would read other numbers, such as -5, as years.
  const date = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
