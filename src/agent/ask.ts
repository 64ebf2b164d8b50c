import { reasonOf } from "../util/reason-of.ts";
import { untilAborted } from "../util/until-aborted.ts";
import type { AskAnswer, AskRequest } from "./ask-request.ts";
import type { PermissionAnswer, PermissionQuestion } from "./permissions/permissions.ts";
import { runContext } from "./run-context.ts";

const ANSWERS: readonly unknown[] = ["once", "session", "always", "deny"];

/** Asks through the events of the current run. Outside of a tool call the answer is deny. */
export async function askInRun(question: Omit<AskRequest, "span" | "callId">): Promise<AskAnswer> {
  const context = runContext.getStore();
  if (!context?.call) return "deny";
  const { emit, ask, signal, call } = context;
  emit({ type: "permission-request", callId: call.callId, ...question }, call.span);
  const answer = ask ? await answerOf(ask({ ...call, ...question }, signal), signal) : "deny";
  const said = typeof answer === "string" ? { answer } : { answer: "deny" as const, instead: answer.deny };
  emit({ type: "permission-answer", callId: call.callId, ...said }, call.span);
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
  const { action, resource, given, folder, ...more } = question;
  const spelled = given === undefined ? "" : ` (given as ${given})`;
  const place = folder === undefined ? "" : `\nin the folder: ${folder}`;
  return askInRun({ ...more, action: `${action}: ${resource}${spelled}${place}` });
}

/** An error or an unknown answer counts as deny. */
async function answerOf(asked: Promise<AskAnswer>, signal: AbortSignal): Promise<AskAnswer> {
  try {
    const answer = await untilAborted(asked, signal);
    if (typeof answer === "object" && typeof answer?.deny === "string") return { deny: answer.deny };
    return ANSWERS.includes(answer) ? answer : "deny";
  } catch (error) {
    runContext
      .getStore()
      ?.emit({ type: "notice", text: `Asking failed, which counts as deny: ${reasonOf(error)}` });
    return "deny";
  }
}
