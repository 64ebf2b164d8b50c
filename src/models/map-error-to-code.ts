import { type ErrorFacts, errorFacts } from "./error-facts.ts";
import { MODEL_ERROR_CODES, type ModelErrorCode } from "./providers/model-response.ts";

/** Classifies any thrown error: by its type, then by its status, then by the words of its message. */
export function mapErrorToCode(error: unknown): ModelErrorCode {
  return codeOf(errorFacts(error));
}

export function codeOf({ types, status, message }: ErrorFacts): ModelErrorCode {
  const typed = types.map((type) => BY_TYPE.get(type.toLowerCase())).find((code) => code !== undefined);
  return typed ?? codeOfStatus(status) ?? codeOfWords(message.toLowerCase());
}

/** Error types of providers, the network layer, the AI SDK, and Keyhole's other problems. */
const TYPES: Partial<Record<ModelErrorCode, readonly string[]>> = {
  AUTHENTICATION_ERROR: [
    "permission_error",
    "invalid_api_key",
    "api_key_invalid",
    "unauthenticated",
    "unauthorized",
    "permission_denied",
    "permissiondenied",
  ],
  RATE_LIMITED: [
    "rate_limit_error",
    "rate_limit_exceeded",
    "ratelimitreached",
    "insufficient_quota",
    "resource_exhausted",
    "too_many_requests",
    "overloaded_error",
  ],
  MODEL_NOT_FOUND: [
    "not_found_error",
    "not_found",
    "deploymentnotfound",
    "unknown_model",
    "ai_nosuchmodelerror",
  ],
  CONTEXT_LENGTH_EXCEEDED: ["request_too_large", "tokens_limit_reached"],
  TIMEOUT: [
    "timeout_error",
    "deadline_exceeded",
    "timeouterror",
    "etimedout",
    "und_err_connect_timeout",
    "und_err_headers_timeout",
    "und_err_body_timeout",
  ],
  NETWORK_ERROR: [
    "api_error",
    "server_error",
    "internal_server_error",
    "unavailable",
    "econnrefused",
    "econnreset",
    "enotfound",
    "eai_again",
    "epipe",
    "ehostunreach",
    "enetunreach",
    "und_err_socket",
    "und_err_closed",
    "call_failed",
  ],
  INVALID_RESPONSE: [
    "ai_jsonparseerror",
    "ai_typevalidationerror",
    "ai_invalidresponsedataerror",
    "ai_emptyresponsebodyerror",
    "ai_nocontentgeneratederror",
  ],
  PROVIDER_NOT_CONFIGURED: [
    "ai_loadapikeyerror",
    "ai_loadsettingerror",
    "request_refused",
    "package_missing",
  ],
  UNKNOWN: ["aborterror", "cancelled"],
};

/** A model's problem carries its code as the type. */
const BY_TYPE = new Map<string, ModelErrorCode>([
  ...MODEL_ERROR_CODES.filter((code) => code !== "UNKNOWN").map(
    (code) => [code.toLowerCase(), code] as const,
  ),
  ...Object.entries(TYPES).flatMap(([code, types]) =>
    types.map((type) => [type, code as ModelErrorCode] as const),
  ),
]);

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
