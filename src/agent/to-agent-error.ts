import { mapErrorToCode } from "../models/map-error-to-code.ts";
import { MODEL_ERROR_CODES, type ModelErrorCode } from "../models/providers/model-response.ts";
import { nextStepOf } from "../models/to-model-problem.ts";
import { hideSecrets } from "../net/known-secrets.ts";
import { isProblem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";
import { createRedact } from "../util/redact.ts";

/** Why a run failed: a code of the problem table, a message and the next step. */
export interface AgentError {
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

const redact = createRedact([], { kinds: true });
const MAX_CHARS = 2_000;

/** Turns anything thrown in a run, or a model's failure response, into an error for the reader. */
export function toAgentError(error: unknown): AgentError {
  const { code, message, next } = read(error);
  return { code, message: redact(hideSecrets(message)).slice(0, MAX_CHARS), next };
}

function read(error: unknown): AgentError {
  if (isProblem(error)) return error;
  // The AI SDK wraps the error of its last retry.
  const { lastError, error: code, message } = (error ?? {}) as Record<string, unknown>;
  if (lastError !== undefined) return read(lastError);
  const known = isModelCode(code) ? code : mapErrorToCode(error);
  return {
    code: known,
    message: typeof message === "string" ? message : reasonOf(error),
    next: nextStepOf(known),
  };
}

function isModelCode(code: unknown): code is ModelErrorCode {
  return (MODEL_ERROR_CODES as readonly unknown[]).includes(code);
}
