import { customProblem, isProblem, nextStepOfCode, type Problem } from "../../base/problems/problem.ts";
import type { ProblemCode } from "../../base/problems/problems.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { PermissionOutcome } from "../permissions/permissions.ts";

/** Next steps for files and commands; the table has those for calls through the gateway. */
const NEXT: Partial<Record<ProblemCode, string>> = {
  INVALID_PARAMS: "Correct the args as the message says and call again.",
  PERMISSION_DENIED: "Do not try another way: ask the person, or go on without it.",
  NOT_FOUND: "List the folder or search for the name, then call again.",
  TIMEOUT: "Check first whether it took effect; then ask for less, or for more time.",
  UNKNOWN: "Report the failure to the person.",
};

export function toolProblem(code: ProblemCode, message: string): Problem {
  return customProblem(code, message, NEXT[code] ?? nextStepOfCode(code));
}

/** The problem of a request that the permissions refuse. */
export function refusal(what: string, { reason, next }: PermissionOutcome): Problem {
  return customProblem("PERMISSION_DENIED", `${what}: ${reason}`, next ?? NEXT.PERMISSION_DENIED!);
}

const SYSTEM: Readonly<Record<string, ProblemCode>> = {
  ENOENT: "NOT_FOUND",
  ENOTDIR: "NOT_FOUND",
  EACCES: "PERMISSION_DENIED",
  EPERM: "PERMISSION_DENIED",
  EROFS: "PERMISSION_DENIED",
  ETIMEDOUT: "TIMEOUT",
};

/** Turns anything thrown into a problem. Errors of the system get the code that fits. */
export function toToolProblem(error: unknown): Problem {
  if (isProblem(error)) return error;
  const code = String((error as NodeJS.ErrnoException | undefined)?.code ?? "");
  const fallback = /^E[A-Z]+$/.test(code) ? "IO_ERROR" : "UNKNOWN";
  return toolProblem(Object.hasOwn(SYSTEM, code) ? SYSTEM[code]! : fallback, reasonOf(error));
}
