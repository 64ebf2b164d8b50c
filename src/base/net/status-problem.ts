import { type Problem, problem } from "../problems/problem.ts";
import { toVisibleText } from "../safety/visible-text.ts";

const BODY_CHARS = 2_000;
const REASON_CHARS = 300;

/** Turns an error status into a problem with a next step. */
export function statusProblem(name: string, response: Response, body: unknown): Problem {
  const { status } = response;
  const shown = shownBody(body);
  const retryAfter = waitOf(response.headers.get("retry-after"));
  const details = {
    status,
    ...(shown !== undefined && { body: shown }),
    ...(retryAfter && { retry_after: retryAfter }),
  };
  const reason = reasonOf(body) ?? (response.statusText || "no reason given");
  const fills = { name, status, reason: toVisibleText(reason, REASON_CHARS) };
  if (status === 401 || status === 403) return problem("LOGIN_NEEDED", fills, details);
  if (status === 409)
    return problem("CONFLICT", { reason: `${name} answered 409: ${fills.reason}` }, details);
  if (status === 429) return problem("RATE_LIMITED", { ...fills, wait: retryAfter ?? "a minute" }, details);
  const failed = { name, reason: `the API answered ${status}: ${fills.reason}` };
  return problem("CALL_FAILED", { ...failed, advice: adviceFor(status, retryAfter) }, details);
}

function adviceFor(status: number, retryAfter: string | undefined): string {
  if (status === 404 || status === 410)
    return "Check the ids in the args: list or search first for what exists.";
  if (status === 408) return "Ask for less at once, then try again.";
  if (status === 412 || status === 428)
    return "Read the current state again, then decide whether to repeat the call.";
  if (status < 500) return "Correct the args: details.body says what the API did not accept.";
  const wait = retryAfter ? `in ${retryAfter}` : "later";
  return `The API itself failed. Try a read again ${wait}; repeat a write only after reading whether it took effect.`;
}

/** Most APIs give the reason under one of these names. */
function reasonOf(body: unknown): string | undefined {
  if (typeof body === "string") return body.trim() === "" ? undefined : body;
  if (typeof body !== "object" || body === null) return undefined;
  for (const key of ["message", "detail", "error_description", "error", "title", "reason"]) {
    const value: unknown = Object.hasOwn(body, key) ? Reflect.get(body, key) : undefined;
    if (typeof value === "string" && value !== "") return value;
    if (typeof value === "object" && value !== null) return reasonOf(value);
  }
  return undefined;
}

function shownBody(body: unknown): unknown {
  if (body === null) return undefined;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return typeof body !== "string" && text.length <= BODY_CHARS ? body : toVisibleText(text, BODY_CHARS);
}

function waitOf(header: string | null): string | undefined {
  const ms = parseRetryAfter(header, Date.now());
  return ms === undefined ? undefined : `${Math.ceil(ms / 1000)} seconds`;
}

/**
 * Parses a `Retry-After` header: seconds (whole or decimal) or an HTTP date. Returns milliseconds from `now`, never
 * negative; undefined without a header or for another format.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Date.parse would read other numbers, such as -5, as years.
  const date = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Whether a network error code means that the host closed the connection, for example an idle one. */
export function isCut(code: unknown): boolean {
  return code === "ECONNRESET" || code === "EPIPE";
}
