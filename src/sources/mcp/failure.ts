import { isCut } from "../../net/is-cut.ts";
import type { EntryStatus } from "../../schema/entry.ts";
import { isProblem } from "../../schema/problem.ts";
import { cleanText } from "../../util/clean-text.ts";
import { reasonOf } from "../../util/reason-of.ts";

const REASON_CHARS = 500;
const TAIL_CHARS = 200;
const SHORTEST_SECRET = 6;
const MAX_CAUSES = 5;
/** Stands for the answer to a request whose stream ended without one. No server can send this very object. */
export const BROKEN_OFF = { code: -32_000, message: "its answer broke off", data: Object.freeze({}) };
const LOST = new Set(["CONNECTION_CLOSED", "NOT_CONNECTED", "SEND_FAILED", "UPSTREAM_LOST"]);

/** Why a server cannot be used, in words that name the cause and hold no secret. */
export function toStatus(error: unknown, hide: (text: string) => string): EntryStatus {
  const status = httpStatus(error);
  if (nameOf(error) === "InsufficientScopeError") {
    return { state: "needs_login", reason: missingScope(error) };
  }
  if (status === 401 || status === 403 || nameOf(error) === "UnauthorizedError") {
    const code = status === undefined ? "" : ` (HTTP ${status})`;
    return { state: "needs_login", reason: `it wants a login${code}` };
  }
  return { state: "server_down", reason: failureReason(error, hide) };
}

export function failureReason(error: unknown, hide: (text: string) => string): string {
  if (isBrokenOff(error)) return BROKEN_OFF.message;
  const told = causes(error).find(isProblem);
  if (told) {
    const { reason, network } = told.details;
    if (network) return `it cannot be reached (${network})`;
    return typeof reason === "string" ? reason : told.message;
  }
  const status = httpStatus(error);
  if (status !== undefined) return `it answers with HTTP ${status}`;
  if (codeOf(error) === "REQUEST_TIMEOUT") return "it did not answer in time";
  const network = networkCode(error);
  if (network !== undefined) return `it cannot be reached (${network})`;
  return cleanText(hide(reasonOf(error)), REASON_CHARS) || "no reason given";
}

/** Whether it wants credentials, as opposed to refusing one thing to those it has. */
export function wantsLogin(error: unknown): boolean {
  return httpStatus(error) === 401 || nameOf(error) === "UnauthorizedError";
}

/** What a server says is missing where a login does not cover a call; undefined for any other failure. */
export function scopeWanted(error: unknown): string | undefined {
  return nameOf(error) === "InsufficientScopeError" ? missingScope(error) : undefined;
}

function missingScope(error: unknown): string {
  const { requiredScope } = error as { requiredScope?: unknown };
  const scope = typeof requiredScope === "string" ? ` (${cleanText(requiredScope, 200)})` : "";
  return `it wants a login with more scopes${scope}`;
}

/** Whether the connection broke, as opposed to the server having answered. */
export function isLost(error: unknown): boolean {
  return LOST.has(codeOf(error) ?? "") || isBrokenOff(error) || wasCut(error);
}

function isBrokenOff(error: unknown): boolean {
  return (error as { data?: unknown } | null)?.data === BROKEN_OFF.data;
}

/** Whether the host closed the connection, as it may one that has idled; the server itself may be well. */
export function wasCut(error: unknown): boolean {
  return isCut(networkFailure(error));
}

/** Whether the server could not be reached, so that nothing was asked of it. */
export function isOutOfReach(error: unknown): boolean {
  return networkFailure(error) !== undefined && !wasCut(error);
}

function networkFailure(error: unknown): unknown {
  return isProblem(error) && error.code === "CALL_FAILED" ? error.details.network : undefined;
}

/** Whether a server of the older protocol no longer knows the session, so that it has done nothing. */
export function forgotSession(
  error: unknown,
  { sessionId }: { readonly sessionId?: string | undefined },
): boolean {
  return sessionId !== undefined && httpStatus(error) === 404;
}

/** Takes secrets out of a text. */
export function createHider(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const ordered = [...new Set(long)].sort((left, right) => right.length - left.length);
  return (text) => ordered.reduce((shown, secret) => shown.replaceAll(secret, "[hidden]"), text);
}

/** The last line that a server complained with, to go with a reason. */
export function lastComplaint(stderr: string, hide: (text: string) => string): string {
  const line = hide(stderr).trimEnd().split("\n").at(-1)?.trim() ?? "";
  return line === "" ? "" : `; it last said: ${cleanText(line, TAIL_CHARS)}`;
}

function httpStatus(error: unknown): number | undefined {
  return causes(error)
    .map((cause) => (cause as { status?: unknown }).status)
    .find((status): status is number => typeof status === "number");
}

/** Codes of sockets and certificates, such as ECONNREFUSED and DEPTH_ZERO_SELF_SIGNED_CERT. */
function networkCode(error: unknown): string | undefined {
  const inner = causes(error).slice(1).map(codeOf);
  return inner.find((code) => code !== undefined && /^[A-Z][A-Z0-9_]{2,60}$/.test(code));
}

function causes(error: unknown): object[] {
  const found: object[] = [];
  for (let at = error; typeof at === "object" && at !== null && found.length < MAX_CAUSES; ) {
    found.push(at);
    const { cause, data } = at as { cause?: unknown; data?: { cause?: unknown } };
    at = cause ?? data?.cause;
  }
  return found;
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === "object" && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}

function nameOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined;
}
