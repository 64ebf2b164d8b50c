import { isProblem, type Problem, problem } from "../../schema/problem.ts";
import type { ProblemCode } from "../../schema/problems.ts";
import { reasonOf } from "../../util/reason-of.ts";

export const TOOL_ERROR_CODES = [
  "VALIDATION_ERROR",
  "IO_ERROR",
  "CONFIG_ERROR",
  "PERMISSION_DENIED",
  "RATE_LIMITED",
  "NOT_FOUND",
  "LLM_ASSIST_REQUIRED",
  "TIMEOUT",
  "UNKNOWN",
] as const;
export type ToolErrorCode = (typeof TOOL_ERROR_CODES)[number];

export interface ToolFailure {
  readonly success: false;
  readonly error: ToolErrorCode;
  readonly message: string;
}

/** What a tool answers: it never throws. */
export type ToolResponse<T> =
  | { readonly success: true; readonly result: T; readonly message: string }
  | ToolFailure;

export function succeed<T>(result: T, message: string): ToolResponse<T> {
  return { success: true, result, message };
}

export function fail(error: ToolErrorCode, message: string): ToolFailure {
  return { success: false, error, message };
}

const ADVICE: Record<ToolErrorCode, string> = {
  VALIDATION_ERROR: "Correct the args as the message says and call again.",
  IO_ERROR: "Read the current state, then decide whether to repeat the call.",
  CONFIG_ERROR: "Tell the person what is missing in the configuration.",
  PERMISSION_DENIED: "Do not try to get round it: ask the person, or go on without.",
  RATE_LIMITED: "Wait a little before the next call.",
  NOT_FOUND: "List the folder or search for the name, then call again.",
  LLM_ASSIST_REQUIRED: "Decide what the message asks for, then call again.",
  TIMEOUT: "Look first whether it took effect; then ask for less, or for more time.",
  UNKNOWN: "Report what failed to the person.",
};

const CODES: Partial<Record<ProblemCode, ToolErrorCode>> = {
  NOT_FOUND: "NOT_FOUND",
  UNKNOWN_HANDLE: "NOT_FOUND",
  INVALID_INPUT: "VALIDATION_ERROR",
  INVALID_PARAMS: "VALIDATION_ERROR",
  LIMIT_EXCEEDED: "VALIDATION_ERROR",
  REFERENCE_FAILED: "VALIDATION_ERROR",
  CONFLICT: "VALIDATION_ERROR",
  ACCESS_DENIED: "PERMISSION_DENIED",
  PERMISSION_DENIED: "PERMISSION_DENIED",
  APPROVAL_REQUIRED: "PERMISSION_DENIED",
  LOGIN_NEEDED: "PERMISSION_DENIED",
  RATE_LIMITED: "RATE_LIMITED",
  BUSY: "RATE_LIMITED",
  TIMEOUT: "TIMEOUT",
  UNAVAILABLE: "IO_ERROR",
  UPSTREAM_LOST: "IO_ERROR",
  UPSTREAM_ERROR: "IO_ERROR",
  CALL_FAILED: "IO_ERROR",
  DATA_INVALID: "IO_ERROR",
  CATALOG_INVALID: "CONFIG_ERROR",
  CONFIG_INVALID: "CONFIG_ERROR",
  LOGIN_FAILED: "CONFIG_ERROR",
  PERMISSIONS_INVALID: "CONFIG_ERROR",
  REGISTRY_INVALID: "CONFIG_ERROR",
  REQUEST_REFUSED: "CONFIG_ERROR",
  SERVER_CONFIG_INVALID: "CONFIG_ERROR",
  SOURCE_INVALID: "CONFIG_ERROR",
};

const SYSTEM: Readonly<Record<string, ToolErrorCode>> = {
  ENOENT: "NOT_FOUND",
  ENOTDIR: "NOT_FOUND",
  EACCES: "PERMISSION_DENIED",
  EPERM: "PERMISSION_DENIED",
  EROFS: "PERMISSION_DENIED",
  ETIMEDOUT: "TIMEOUT",
};

/** The failure of a tool as a problem. */
export function toProblem(name: string, { error, message }: ToolFailure): Problem {
  return problem("TOOL_FAILED", { name, error, reason: message, advice: ADVICE[error] }, { error, message });
}

/** Whatever was thrown as the failure of a tool; the problem of a tool becomes the failure that it was. */
export function toFailure(error: unknown): ToolFailure {
  if (isProblem(error)) {
    const known = TOOL_ERROR_CODES.find((code) => code === error.details?.error);
    if (error.code === "TOOL_FAILED" && known) return fail(known, String(error.details.message));
    return fail(CODES[error.code] ?? "UNKNOWN", `${error.message} ${error.next}`);
  }
  const code = String((error as NodeJS.ErrnoException | undefined)?.code ?? "");
  if (Object.hasOwn(SYSTEM, code)) return fail(SYSTEM[code]!, reasonOf(error));
  return fail(/^E[A-Z]+$/.test(code) ? "IO_ERROR" : "UNKNOWN", reasonOf(error));
}
