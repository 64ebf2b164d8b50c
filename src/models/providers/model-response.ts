import { problem } from "../../schema/problem.ts";
import type { ProblemCode } from "../../schema/problems.ts";

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

export function successResponse<T>(result: T, message: string): ModelSuccessResponse<T> {
  return { success: true, result, message };
}

export function errorResponse(
  error: ModelErrorCode,
  message: string,
  retryAfterMs?: number,
): ModelErrorResponse {
  return { success: false, error, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** A failure with the sentence of the problem table. */
export function failWith(error: ModelErrorCode, fills: Readonly<Record<string, string>>): ModelErrorResponse {
  return errorResponse(error, problem(error, fills).message);
}
