import { customProblem, isProblem, nextStepOfCode, type Problem } from "../../base/problems/problem.ts";
import type { ProblemCode } from "../../base/problems/problems.ts";
import { reasonOf } from "../../base/util/reason-of.ts";

/** A tool's failure: a code of the problem table, and a sentence. */
export interface ToolFailure {
  readonly success: false;
  readonly error: ProblemCode;
  readonly message: string;
  /** The next step, if it is not the usual one of the code. */
  readonly next?: string;
}

/** The answer of a workspace tool, which never throws. */
export type ToolResponse<T> =
  | { readonly success: true; readonly result: T; readonly message: string }
  | ToolFailure;

export function succeed<T>(result: T, message: string): ToolResponse<T> {
  return { success: true, result, message };
}

export function fail(error: ProblemCode, message: string, next?: string): ToolFailure {
  return { success: false, error, message, ...(next !== undefined && { next }) };
}

/** Next steps for files and commands; the table has those for calls through the gateway. */
const NEXT: Partial<Record<ProblemCode, string>> = {
  INVALID_PARAMS: "Correct the args as the message says and call again.",
  PERMISSION_DENIED: "Do not try another way: ask the person, or go on without it.",
  NOT_FOUND: "List the folder or search for the name, then call again.",
  TIMEOUT: "Check first whether it took effect; then ask for less, or for more time.",
  UNKNOWN: "Report the failure to the person.",
};

const SYSTEM: Readonly<Record<string, ProblemCode>> = {
  ENOENT: "NOT_FOUND",
  ENOTDIR: "NOT_FOUND",
  EACCES: "PERMISSION_DENIED",
  EPERM: "PERMISSION_DENIED",
  EROFS: "PERMISSION_DENIED",
  ETIMEDOUT: "TIMEOUT",
};

/** The problem of the failure's own code. */
export function toProblem({ error, message, next }: ToolFailure): Problem {
  return customProblem(error, message, next ?? NEXT[error] ?? nextStepOfCode(error));
}

/** Turns anything thrown into a tool's failure. A problem keeps its code, sentence and next step. */
export function toFailure(error: unknown): ToolFailure {
  if (isProblem(error)) return fail(error.code, error.message, error.next);
  const code = String((error as NodeJS.ErrnoException | undefined)?.code ?? "");
  if (Object.hasOwn(SYSTEM, code)) return fail(SYSTEM[code]!, reasonOf(error));
  return fail(/^E[A-Z]+$/.test(code) ? "IO_ERROR" : "UNKNOWN", reasonOf(error));
}
