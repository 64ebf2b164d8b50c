import { reasonOf } from "../util/reason-of.ts";
import { untilAborted } from "../util/until-aborted.ts";
import type { AskAnswer, AskRequest } from "./ask-request.ts";
import type { PermissionAnswer, PermissionQuestion } from "./permissions/permissions.ts";
import { runContext } from "./run-context.ts";

/** The answer of a person. */
const ANSWERS: readonly AskAnswer[] = ["once", "session", "always", "deny"];

/** Asks through the events of the current run. Outside of a tool call the answer is deny. */
export async function askInRun(
  question: Pick<AskRequest, "scope" | "action" | "reason" | "always">,
): Promise<AskAnswer> {
  const context = runContext.getStore();
  if (!context?.call) return "deny";
  const { emit, ask, signal, call } = context;
  const { scope, action, reason } = question;
  emit({ type: "permission-request", callId: call.callId, scope, action, reason }, call.span);
  const answer = ask ? await answerOf(ask({ ...call, ...question }, signal), signal) : "deny";
  emit({ type: "permission-answer", callId: call.callId, answer }, call.span);
  return answer;
}

/**
 * Turns questions of workspace tools into events of the current run, as `ask` of {@link createPermissions}. The
 * agent's own `ask` answers them. Outside of a run the answer is deny.
 *
 * @example
 * ```ts
 * import { askPermission, createPermissions } from "keyhole/agent";
 *
 * const permissions = createPermissions({ root: process.cwd(), ask: askPermission });
 * const { allowed } = await permissions.command("make");
 * console.assert(!allowed);
 * ```
 */
export async function askPermission(question: PermissionQuestion): Promise<PermissionAnswer> {
  const { scope, action, resource, given, reason, always } = question;
  const spelled = given === undefined ? "" : ` (given as ${given})`;
  return askInRun({ scope, action: `${action}: ${resource}${spelled}`, reason, always });
}

/** An error or an unknown answer counts as deny. */
async function answerOf(asked: Promise<AskAnswer>, signal: AbortSignal): Promise<AskAnswer> {
  try {
    const answer = await untilAborted(asked, signal);
    return ANSWERS.includes(answer) ? answer : "deny";
  } catch (error) {
    runContext
      .getStore()
      ?.emit({ type: "notice", text: `Asking failed, which counts as deny: ${reasonOf(error)}` });
    return "deny";
  }
}
