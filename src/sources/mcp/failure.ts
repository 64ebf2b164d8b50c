import type { Transport } from "@modelcontextprotocol/client";
import { isCut } from "../../base/net/status-problem.ts";
import { isProblem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { EntryStatus } from "../../core/nouns/entry.ts";

const REASON_CHARS = 500;
const TAIL_CHARS = 200;
const MAX_CAUSES = 5;
/** Answers a request whose stream ended early. Compared by identity, so a server cannot send it. */
export const BROKEN_OFF = { code: -32_000, message: "its answer broke off", data: Object.freeze({}) };
const LOST = new Set(["CONNECTION_CLOSED", "NOT_CONNECTED", "SEND_FAILED", "UPSTREAM_LOST"]);

/** Explains why a server cannot be used, without secrets. */
export function statusOf(error: unknown): EntryStatus {
  const scope = scopeWanted(error);
  if (scope !== undefined) return { state: "needs_login", reason: scope };
  const status = httpStatus(error);
  if (status === 401 || status === 403 || nameOf(error) === "UnauthorizedError") {
    const code = status === undefined ? "" : ` (HTTP ${status})`;
    return { state: "needs_login", reason: `it wants a login${code}` };
  }
  return { state: "server_down", reason: failureReason(error) };
}

export function failureReason(error: unknown): string {
  if (isBrokenOff(error)) return BROKEN_OFF.message;
  const reported = causes(error).find(isProblem);
  if (reported) {
    const { reason, network } = reported.details;
    if (network) return outOfReach(String(network));
    return typeof reason === "string" ? reason : reported.message;
  }
  const status = httpStatus(error);
  if (status !== undefined) return `it answers with HTTP ${status}`;
  if (codeOf(error) === "REQUEST_TIMEOUT") return "it did not answer in time";
  const network = networkCode(error);
  if (network !== undefined) return outOfReach(network);
  return toVisibleText(hideSecrets(reasonOf(error)), REASON_CHARS) || "no reason given";
}

const NETWORK_FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: ": nothing listens at its url",
  ENOTFOUND: ": the host of its url does not exist",
};

function outOfReach(network: string): string {
  return `it cannot be reached (${network})${NETWORK_FAULTS[network] ?? ""}`;
}

/** Whether the server rejects the credentials altogether, not only for one request. */
export function wantsLogin(error: unknown): boolean {
  return httpStatus(error) === 401 || nameOf(error) === "UnauthorizedError";
}

/** The scope that a call lacks; undefined for other failures. */
export function scopeWanted(error: unknown): string | undefined {
  if (nameOf(error) !== "InsufficientScopeError") return undefined;
  const { requiredScope } = error as { requiredScope?: unknown };
  const scope = typeof requiredScope === "string" ? ` (${toVisibleText(requiredScope, 200)})` : "";
  return `it wants a login with more scopes${scope}`;
}

/** Whether the connection broke before the server answered. */
export function isLost(error: unknown): boolean {
  return LOST.has(codeOf(error) ?? "") || isBrokenOff(error) || wasCut(error);
}

function isBrokenOff(error: unknown): boolean {
  return fieldsOf(error).data === BROKEN_OFF.data;
}

/** Whether the host closed the connection, for example an idle one. The server may be fine. */
export function wasCut(error: unknown): boolean {
  return isCut(networkFailure(error));
}

/** Whether the request was never sent because the server is unreachable. */
export function isOutOfReach(error: unknown): boolean {
  return networkFailure(error) !== undefined && !wasCut(error);
}

function networkFailure(error: unknown): unknown {
  return isProblem(error) && error.code === "CALL_FAILED" ? error.details.network : undefined;
}

/** Whether a server of the older protocol lost the session. It has not run the request. */
export function forgotSession(error: unknown, { sessionId }: Transport): boolean {
  return sessionId !== undefined && httpStatus(error) === 404;
}

/** Whether a server refuses the newer HTTP transport, as servers with only SSE do. */
export function refusesPost(error: unknown): boolean {
  return [400, 404, 405].includes(httpStatus(error) ?? 0);
}

/** A line such as "Error: …", "TypeError [CODE]: …", "panic: …" or "12:00 ERROR: …". */
const NAMES_ERROR = /^(?:\S+ ){0,3}?\[?[\w.]{0,80}(?:error|exception|fatal|panic)\]?(?: \[\w+\])?: *\S/i;
/** Stack frames, marks below source text, and the version that Node prints last. */
const NOISE = /^\s*(?:at |File "|goroutine |Node\.js v|[\^~]+\s*$|[{}()[\]]*\s*$)/;

/** The line of stderr that names the error, otherwise the last line, as the end of a sentence. */
export function complaintOf(stderr: string): string {
  const lines = hideSecrets(stderr)
    .split("\n")
    .map((line) => line.trimEnd());
  const isSaid = (line: string) => !NOISE.test(line);
  const line = lines.findLast((text) => NAMES_ERROR.test(text)) ?? lines.findLast(isSaid) ?? "";
  return line === "" ? "" : `; it said: ${toVisibleText(line.trim(), TAIL_CHARS)}`;
}

function httpStatus(error: unknown): number | undefined {
  return causes(error)
    .map((cause) => (cause as { status?: unknown }).status)
    .find((status): status is number => typeof status === "number");
}

/** Finds codes of sockets and certificates, such as ECONNREFUSED. */
function networkCode(error: unknown): string | undefined {
  const inner = causes(error).slice(1).map(codeOf);
  return inner.find((code) => code !== undefined && /^[A-Z][A-Z0-9_]{2,60}$/.test(code));
}

function causes(error: unknown): object[] {
  const chain: object[] = [];
  for (let at = error; typeof at === "object" && at !== null && chain.length < MAX_CAUSES; ) {
    chain.push(at);
    const { cause, data } = at as { cause?: unknown; data?: { cause?: unknown } };
    at = cause ?? data?.cause;
  }
  return chain;
}

function codeOf(error: unknown): string | undefined {
  const { code } = fieldsOf(error);
  return typeof code === "string" ? code : undefined;
}

function nameOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined;
}
