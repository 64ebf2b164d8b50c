import type { Approve } from "../calls/call-environment.ts";
import type { Gateway } from "../gateway-api.ts";
import { coreOf, type FaceOptions } from "../gateway-core.ts";
import type { ToolCall } from "../toolbox.ts";

/** Approvals through the AI SDK's own mechanism. */
export interface SdkApprovals {
  /** Whether the application has to approve a call before it runs. */
  needsApproval(call: ToolCall, toolCallId: string): Promise<boolean>;
  /** Answers the gateway's question when the call runs. */
  approveFor(toolCallId: string): Approve;
}

/**
 * Binds the application's approval to the exact call. The AI SDK runs a call only after its approval. If the name
 * leads to another call by then, that call is refused.
 */
export function createSdkApprovals(gateway: Gateway, options: FaceOptions): SdkApprovals {
  const judged = new Map<string, string | undefined>();
  return {
    needsApproval: async ({ operation, input }, toolCallId) => {
      const decisions = await coreOf(gateway).decide(operation, input, options);
      const questions = decisions.flatMap((decision) =>
        decision.do === "ask" ? [decision.question.hash] : [],
      );
      judged.set(toolCallId, questions.join(" ") || undefined);
      return questions.length > 0;
    },
    approveFor:
      (toolCallId) =>
      ({ hash }) =>
        // A call that was never judged here was approved in an earlier turn, or by a rule of the application.
        !judged.has(toolCallId) || (judged.get(toolCallId)?.split(" ").includes(hash) ?? false),
  };
}
