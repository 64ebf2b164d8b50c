import { reasonOf } from "../util/reason-of.ts";
import { untilAborted } from "../util/until-aborted.ts";
import type { SpanContext } from "./agent-event.ts";
import type { PermissionAnswer, PermissionQuestion } from "./permissions/permissions.ts";
import { runContext } from "./run-context.ts";

export type AskAnswer = PermissionAnswer;

/** What a person decides on. Every text is for showing as it is, whole. */
export interface AskRequest {
  readonly span: SpanContext;
  readonly callId: string;
  /** `fs-read`, `fs-write`, `fs-delete`, `shell-run`, or `tool` for a call that the catalog wants approved. */
  readonly scope: string;
  /** Exactly what will happen. */
  readonly action: string;
  readonly reason: string;
  /** The rules that `always` writes; where there are none, it counts as `session`. */
  readonly always: readonly string[];
}

/** Asks a person. Where nobody can be asked, leave it out: what would be asked is denied. */
export type Ask = (request: AskRequest, signal: AbortSignal) => Promise<AskAnswer>;

const ANSWERS: readonly AskAnswer[] = ["once", "session", "always", "deny"];

/** Asks through the run whose tool call is under way, as events; outside of one it is denied. */
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

/** For `createPermissions({ ask })`: questions of workspace tools become events of the run that calls them. */
export async function askPermission(question: PermissionQuestion): Promise<PermissionAnswer> {
  const { scope, action, resource, given, reason, always } = question;
  const spelled = given === undefined ? "" : ` (given as ${given})`;
  return askInRun({ scope, action: `${action}: ${resource}${spelled}`, reason, always });
}

/** Whatever goes wrong with asking, nothing is allowed by it. */
async function answerOf(asked: Promise<AskAnswer>, signal: AbortSignal): Promise<AskAnswer> {
  try {
    const answer = await untilAborted(asked, signal);
    return ANSWERS.includes(answer) ? answer : "deny";
  } catch (error) {
    runContext
      .getStore()
      ?.emit({ type: "notice", text: `The question was not answered: ${reasonOf(error)}` });
    return "deny";
  }
}
