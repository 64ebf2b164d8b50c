import { isProblem } from "../schema/problem.ts";
import { cleanText } from "../util/clean-text.ts";
import { errorFacts } from "./error-facts.ts";
import { codeOf } from "./map-error-to-code.ts";
import { errorResponse, type ModelErrorCode, type ModelErrorResponse } from "./model-response.ts";
import { retryAfterOf } from "./retry-after.ts";

export interface ErrorSetting {
  readonly provider: string;
  readonly redact: (text: string) => string;
  readonly now: number;
}

const MAX_REASON_CHARS = 300;

/** What was thrown, as an answer. What a vendor says goes in shortened and without secrets. */
export function toErrorResponse(error: unknown, { provider, redact, now }: ErrorSetting): ModelErrorResponse {
  const facts = errorFacts(error);
  const code = codeOf(facts);
  const status = facts.status === undefined ? "" : ` (${facts.status})`;
  const said = reasonFor(code, error, facts.message);
  // Redacted before it is cut: half of a secret would not be recognised.
  const reason = cleanText(redact(said), MAX_REASON_CHARS).trim();
  return errorResponse(code, `${provider}${status}: ${reason}`, retryAfterOf(facts, now));
}

/** Vendors repeat a part of the key they refuse, so of those refusals nothing is passed on. */
function reasonFor(code: ModelErrorCode, error: unknown, message: string): string {
  if (isProblem(error)) return `${error.message} ${error.next}`;
  if (code === "AUTHENTICATION_ERROR")
    return "the credentials were refused. Check the key or token, and its rights.";
  return message;
}
