import { isProblem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { isModelCode, mapErrorToCode, nextStepOf } from "../models/providers/model-errors.ts";

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
