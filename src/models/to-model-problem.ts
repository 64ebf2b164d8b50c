import { type Problem, problem, problemSaying } from "../schema/problem.ts";
import type { ModelErrorCode, ModelErrorResponse } from "./providers/model-response.ts";

/** The table's next step of these codes is about tools. */
const NEXT: Partial<Record<ModelErrorCode, string>> = {
  RATE_LIMITED: "Wait a little, then ask again.",
  TIMEOUT: "Ask again, or ask for less at once.",
};

/** The next step for a failed call of a model. */
export function nextStepOf(code: ModelErrorCode): string {
  return NEXT[code] ?? problem(code).next;
}

/** A failed call as the problem of the same code. */
export function toModelProblem({ error, message, retryAfterMs }: ModelErrorResponse): Problem {
  return problemSaying(error, message, nextStepOf(error), retryAfterMs === undefined ? {} : { retryAfterMs });
}
