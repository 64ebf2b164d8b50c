import type { Approval, Approve } from "../calls/call-environment.ts";
import type { ApprovalRequest } from "../calls/decide-call.ts";
import type { SessionState } from "./agent.ts";
import { askInRun } from "./ask.ts";
import type { PermissionMode } from "./permissions/permission.ts";
import { showExactly } from "./permissions/show-exactly.ts";

const REASONS: Readonly<Record<ApprovalRequest["why"], string>> = {
  confirmation: "The tool's author wants every call of it confirmed.",
  destroys: "The call destroys something.",
  writes: "The call changes something.",
};

const PLANNING = "They are in plan mode: nothing may be changed. Read what you need, and answer with a plan.";

/** Asks the person in whose run the call is made. An op that they allowed for the conversation is not asked again. */
export function createApprove(
  { approved }: Pick<SessionState, "approved">,
  mode?: () => PermissionMode,
): Approve {
  return async ({ op, args, why }): Promise<Approval> => {
    if (mode?.() === "plan") return { declined: PLANNING };
    if (approved.has(op)) return { by: "person, for the conversation" };
    const answer = await askInRun({
      scope: "tool",
      action: showExactly(`${op} ${JSON.stringify(args)}`),
      reason: REASONS[why],
      always: [],
    });
    if (answer === "session" || answer === "always") approved.add(op);
    if (typeof answer === "object") return { declined: answer.deny };
    return answer === "deny" ? "declined" : { by: "person" };
  };
}
