import { parseRetryAfter } from "../../../base/net/status-problem.ts";
import { customProblem, isProblem, nextStepOfCode, type Problem } from "../../../base/problems/problem.ts";
import type { ProblemCode } from "../../../base/problems/problems.ts";
import { createRedact } from "../../../base/safety/redact.ts";
import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { isPlainObject, type PlainObject } from "../../../base/util/plain-object.ts";

/** The codes of the problem table that a call of a model may fail with. */
export const MODEL_ERROR_CODES = [
  "PROVIDER_NOT_CONFIGURED",
  "PROVIDER_NOT_SUPPORTED",
  "AUTHENTICATION_ERROR",
  "RATE_LIMITED",
  "MODEL_NOT_FOUND",
  "CONTEXT_LENGTH_EXCEEDED",
  "NETWORK_ERROR",
  "TIMEOUT",
  "INVALID_RESPONSE",
  "UNKNOWN",
] as const satisfies readonly ProblemCode[];

/** A code that a call of a model may fail with. */
export type ModelErrorCode = (typeof MODEL_ERROR_CODES)[number];

/** A failed call inside the models: thrown, with one of their codes. */
export type ModelProblem = Problem & { readonly code: ModelErrorCode };

/** The answer of a model call: a result, or a failure. Calls do not throw. */
export type ModelResponse<T> = ModelSuccessResponse<T> | ModelErrorResponse;

/** A model call that succeeded. */
export interface ModelSuccessResponse<T> {
  readonly success: true;
  readonly result: T;
  readonly message: string;
}

/** A model call that failed. */
export interface ModelErrorResponse {
  readonly success: false;
  readonly error: ModelErrorCode;
  /** For people; never contains secrets. */
  readonly message: string;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number;
}

export interface FailedCall {
  readonly provider: string;
  readonly secrets: readonly string[];
  readonly now: number;
}

const MAX_REASON_CHARS = 300;

/** Turns anything thrown by a provider into a problem. The provider's words are shortened, and secrets are removed. */
export function toModelProblem(error: unknown, { provider, secrets, now }: FailedCall): ModelProblem {
  if (isProblem(error) && isModelCode(error.code))
    return modelProblem(error.code, error.message, error.details);
  const facts = errorFacts(error);
  const code = codeOf(facts);
  const status = facts.status === undefined ? "" : ` (${facts.status})`;
  // Redact before cutting: half of a secret would not be recognised.
  const reason = toVisibleText(
    createRedact(secrets)(reasonFor(code, error, facts.message)),
    MAX_REASON_CHARS,
  );
  const retryAfterMs = retryAfterOf(facts.headers, now);
  const details = {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(isOverload(facts) && { isOverload: true }),
  };
  const message = `${provider}${status}: ${reason.trim()}`;
  if (!isLowCredit(facts)) return modelProblem(code, message, details);
  const account = `The account at ${provider} has no credit left. ${message}`;
  return customProblem(code, account, ADD_CREDIT, { isFinal: true }) as ModelProblem;
}

/** The parts of a model problem that decide whether it is retried. */
export interface ModelProblemDetails {
  /** The wait that the provider asks for. */
  readonly retryAfterMs?: number;
  /** The provider has too much to do (429, 503, 529), which may last for minutes. */
  readonly isOverload?: boolean;
  /** No retry helps, although the code is that of a temporary failure. */
  readonly isFinal?: boolean;
}

export function modelProblem(
  code: ModelErrorCode,
  message: string,
  details: ModelProblemDetails = {},
): ModelProblem {
  return customProblem(code, message, nextStepOf(code), { ...details }) as ModelProblem;
}

const ADD_CREDIT = "Add credit to the account at the provider, or choose a model of another provider.";

function isLowCredit({ types, status, message }: ErrorFacts): boolean {
  if (status === 402 || types.some((type) => /^(?:insufficient_quota|billing_error)$/i.test(type)))
    return true;
  return /credit balance is too low|insufficient (?:credits?|balance|funds)\b/i.test(message);
}

const OVERLOADED = [429, 503, 529];

function isOverload({ types, status }: ErrorFacts): boolean {
  return OVERLOADED.includes(status ?? 0) || types.includes("overloaded_error");
}

/** A text of others, with the full stop that the next sentence needs. */
export function asSentence(text: string): string {
  return text.trimEnd().replace(/[^.!?]$/, "$&.");
}

/** Providers repeat part of a refused key, so their words are not passed on then. */
function reasonFor(code: ModelErrorCode, error: unknown, message: string): string {
  if (isProblem(error)) return `${asSentence(error.message)} ${error.next}`;
  return code === "AUTHENTICATION_ERROR" ? "the credentials were refused." : message;
}

export function toErrorResponse({ code, message, details }: ModelProblem): ModelErrorResponse {
  const { retryAfterMs } = details;
  return { success: false, error: code, message, ...(typeof retryAfterMs === "number" && { retryAfterMs }) };
}

/** The table's next step of these codes is about tools. */
const NEXT: Partial<Record<ModelErrorCode, string>> = {
  RATE_LIMITED: "Wait a little, then ask again.",
  TIMEOUT: "Ask again, or ask for less at once.",
};

export function nextStepOf(code: ModelErrorCode): string {
  return NEXT[code] ?? nextStepOfCode(code);
}

/** The wait that an error of a provider names, also as a number of seconds in `retryAfter`. */
export function retryAfterOfError(error: unknown, now: number): number | undefined {
  const { headers } = errorFacts(error);
  const seconds = layersOf(error, 0).map(({ retryAfter }) => retryAfter);
  const named = seconds.find((value) => typeof value === "number" || typeof value === "string");
  return retryAfterOf(headers, now) ?? parseRetryAfter(named === undefined ? null : String(named), now);
}

/** The wait that a provider asks for, in seconds, milliseconds or as a date. */
function retryAfterOf(headers: PlainObject, now: number): number | undefined {
  const ms = String(headers["retry-after-ms"] ?? "");
  const header = headers["retry-after"];
  return /^\d{1,12}$/.test(ms) ? Number(ms) : parseRetryAfter(isString(header) ? header : null, now);
}

export function isModelCode(code: unknown): code is ModelErrorCode {
  return (MODEL_ERROR_CODES as readonly unknown[]).includes(code);
}

/**
 * Classifies any thrown error: by its type, then by its status, then by the words of its message.
 *
 * @example
 * ```ts
 * import { mapErrorToCode } from "keyhole/models";
 *
 * console.assert(mapErrorToCode(new Error("rate limit reached")) === "RATE_LIMITED");
 * ```
 */
export function mapErrorToCode(error: unknown): ModelErrorCode {
  return codeOf(errorFacts(error));
}

function codeOf(facts: ErrorFacts): ModelErrorCode {
  if (isLowCredit(facts)) return "RATE_LIMITED";
  const { types, status, message } = facts;
  const typed = types.map((type) => BY_TYPE.get(type.toLowerCase())).find((code) => code !== undefined);
  return typed ?? codeOfStatus(status) ?? codeOfWords(message.toLowerCase());
}

/** Error types of providers, the network layer, the AI SDK, and Keyhole's other problems. */
const TYPES: Partial<Record<ModelErrorCode, string>> = {
  AUTHENTICATION_ERROR:
    "permission_error invalid_api_key api_key_invalid unauthenticated unauthorized permission_denied permissiondenied",
  RATE_LIMITED:
    "rate_limit_error rate_limit_exceeded ratelimitreached resource_exhausted too_many_requests overloaded_error",
  MODEL_NOT_FOUND: "not_found_error not_found deploymentnotfound unknown_model ai_nosuchmodelerror",
  CONTEXT_LENGTH_EXCEEDED: "request_too_large tokens_limit_reached",
  TIMEOUT:
    "timeout_error deadline_exceeded timeouterror etimedout und_err_connect_timeout und_err_headers_timeout und_err_body_timeout",
  NETWORK_ERROR:
    "api_error server_error internal_server_error unavailable econnrefused econnreset enotfound eai_again epipe ehostunreach enetunreach und_err_socket und_err_closed call_failed",
  INVALID_RESPONSE:
    "ai_jsonparseerror ai_typevalidationerror ai_invalidresponsedataerror ai_emptyresponsebodyerror ai_nocontentgeneratederror",
  PROVIDER_NOT_CONFIGURED: "ai_loadapikeyerror ai_loadsettingerror request_refused package_missing",
  UNKNOWN: "aborterror cancelled",
};

/** A model's problem carries its code as the type. */
const BY_TYPE = new Map<string, ModelErrorCode>(
  MODEL_ERROR_CODES.flatMap((code) => {
    const types = TYPES[code]?.split(" ") ?? [];
    return (code === "UNKNOWN" ? types : [code.toLowerCase(), ...types]).map((type) => [type, code]);
  }),
);

const BY_STATUS = new Map<number, ModelErrorCode>([
  [401, "AUTHENTICATION_ERROR"],
  [403, "AUTHENTICATION_ERROR"],
  [404, "MODEL_NOT_FOUND"],
  [408, "TIMEOUT"],
  [413, "CONTEXT_LENGTH_EXCEEDED"],
  [429, "RATE_LIMITED"],
  [504, "TIMEOUT"],
  [529, "RATE_LIMITED"],
]);

function codeOfStatus(status: number | undefined): ModelErrorCode | undefined {
  if (status === undefined) return undefined;
  return BY_STATUS.get(status) ?? (status >= 500 && status < 600 ? "NETWORK_ERROR" : undefined);
}

/** A message with one of these words has the code. */
const BY_WORDS: readonly (readonly [ModelErrorCode, readonly string[]])[] = [
  ["AUTHENTICATION_ERROR", ["api key", "authentication", "unauthorized"]],
  ["RATE_LIMITED", ["rate limit", "429"]],
  ["CONTEXT_LENGTH_EXCEEDED", ["context length", "too long", "token limit"]],
  ["TIMEOUT", ["timeout", "timed out"]],
  ["NETWORK_ERROR", ["network", "econnrefused", "fetch failed", "terminated", "500", "502", "503"]],
];

function codeOfWords(message: string): ModelErrorCode {
  if (message.includes("model") && message.includes("not found")) return "MODEL_NOT_FOUND";
  return BY_WORDS.find(([, words]) => words.some((word) => message.includes(word)))?.[0] ?? "UNKNOWN";
}

/** Facts read from an error of the AI SDK, of a provider or of the network layer. */
interface ErrorFacts {
  readonly status: number | undefined;
  /** Names of the kind of error, from provider, network layer and SDK; the most specific first. */
  readonly types: readonly string[];
  readonly message: string;
  readonly headers: PlainObject;
}

const MAX_DEPTH = 6;
const MAX_BODY_CHARS = 20_000;
const TYPE_FIELDS = ["reason", "code", "type", "status", "name"];
const INNER_FIELDS = ["data", "error", "details", "lastError", "cause"];

/** Reads an error and the errors inside it, because SDKs wrap those of providers and the network layer. */
function errorFacts(error: unknown): ErrorFacts {
  const layers = layersOf(error, 0);
  const all = (field: string) => layers.map((layer) => layer[field]);
  const message =
    typeof error === "string"
      ? error
      : all("message")
          .filter(isString)
          .find((text) => text.trim());
  return {
    status: all("statusCode").find((status) => typeof status === "number"),
    types: layers.toReversed().flatMap((layer) => TYPE_FIELDS.map((field) => layer[field]).filter(isString)),
    message: message ?? "no reason given",
    headers: all("responseHeaders").find(isPlainObject) ?? {},
  };
}

/** The error, then the errors inside it, outermost first. */
function layersOf(value: unknown, depth: number): PlainObject[] {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.slice(0, MAX_DEPTH).flatMap((part) => layersOf(part, depth + 1));
  if (!isPlainObject(value)) return [];
  const body = depth === 0 ? layersOf(parsedBody(value), depth + 1) : [];
  return [value, ...INNER_FIELDS.flatMap((name) => layersOf(value[name], depth + 1)), ...body];
}

function parsedBody({ responseBody, data }: PlainObject): unknown {
  if (typeof responseBody !== "string" || typeof data === "object") return undefined;
  try {
    return JSON.parse(responseBody.slice(0, MAX_BODY_CHARS));
  } catch {
    return undefined;
  }
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
