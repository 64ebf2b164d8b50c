import { isProblem } from "../schema/problem.ts";
import { toVisibleText } from "../util/visible-text.ts";
import { errorFacts } from "./error-facts.ts";
import { codeOf } from "./map-error-to-code.ts";
import { errorResponse, type ModelErrorCode, type ModelErrorResponse } from "./providers/model-response.ts";
import { retryAfterOf } from "./retry-after.ts";

export interface ErrorSetting {
  readonly provider: string;
  readonly redact: (text: string) => string;
  readonly now: number;
}

const MAX_REASON_CHARS = 300;

/** Turns a thrown error into a failure. The provider's words are shortened, and secrets are removed. */
export function toErrorResponse(error: unknown, { provider, redact, now }: ErrorSetting): ModelErrorResponse {
  const facts = errorFacts(error);
  const code = codeOf(facts);
  const status = facts.status === undefined ? "" : ` (${facts.status})`;
  // Redact before cutting: half of a secret would not be recognised.
  const reason = toVisibleText(redact(reasonFor(code, error, facts.message)), MAX_REASON_CHARS).trim();
  return errorResponse(code, `${provider}${status}: ${reason}`, retryAfterOf(facts, now));
}

/** Providers repeat part of a refused key, so their words are not passed on then. */
function reasonFor(code: ModelErrorCode, error: unknown, message: string): string {
  if (isProblem(error)) return `${error.message} ${error.next}`;
  return code === "AUTHENTICATION_ERROR" ? "the credentials were refused." : message;
}
