/** What can go wrong between a call and its answer. */
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
] as const;

export type ModelErrorCode = (typeof MODEL_ERROR_CODES)[number];

/** What the model layer answers with: nothing at its boundary throws. */
export type ModelResponse<T> = ModelSuccessResponse<T> | ModelErrorResponse;

export interface ModelSuccessResponse<T> {
  readonly success: true;
  readonly result: T;
  readonly message: string;
}

export interface ModelErrorResponse {
  readonly success: false;
  readonly error: ModelErrorCode;
  /** For people; secrets never stand in it. */
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

export function isModelSuccess<T>(response: ModelResponse<T>): response is ModelSuccessResponse<T> {
  return response.success;
}

export function isModelError<T>(response: ModelResponse<T>): response is ModelErrorResponse {
  return !response.success;
}
