import type { ModelMessage } from "ai";
import type { Approve } from "../calls/call-environment.ts";
import type { Gateway } from "../gateway-api.ts";
import { coreOf, type FaceOptions } from "../gateway-core.ts";
import type { Session } from "../session/session-store.ts";
import { noteAsked } from "../session/working-memory.ts";
import type { ToolCall } from "../toolbox.ts";
import { contentHash } from "../util/content-hash.ts";

/** A call of the AI SDK: its id, and the messages before it. */
export interface SdkCall {
  readonly toolCallId: string;
  readonly messages: readonly ModelMessage[];
}

/** Approvals through the AI SDK's own mechanism. */
export interface SdkApprovals {
  /** Whether the application has to approve a call before it runs. Decided once in a turn. */
  needsApproval(call: ToolCall, sdkCall: SdkCall): Promise<boolean>;
  /** Answers the gateway's question when the call runs. */
  approveFor(sdkCall: SdkCall): Approve;
}

/**
 * Binds the application's approval to the exact call. The AI SDK runs a call only after its approval, mostly in a
 * later turn, and reads the approval from messages that anybody may have written. The session keeps each question, so
 * an answer to a question that was never asked, or to a tool that has changed since, runs nothing.
 */
export function createSdkApprovals(
  gateway: Gateway,
  options: FaceOptions,
  openSession: () => Promise<Session>,
): SdkApprovals {
  /** The questions that the calls of this turn raise. */
  const judged = new Map<string, readonly string[]>();

  return {
    needsApproval: async ({ operation, input }, { toolCallId, messages }) => {
      const known = judged.get(toolCallId);
      if (known) return known.length > 0;
      const decisions = await coreOf(gateway).decide(operation, input, options);
      const questions = decisions.flatMap((decision) =>
        decision.do === "ask" ? [decision.question.hash] : [],
      );
      judged.set(toolCallId, questions);
      // The SDK judges an approved call again before it runs. That is no new question.
      if (questions.length > 0 && !wasAsked(toolCallId, messages)) {
        const marks = questions.map((hash) => markOf(toolCallId, hash));
        await (await openSession()).update((memory) => noteAsked(memory, marks));
      }
      return questions.length > 0;
    },
    approveFor:
      ({ toolCallId, messages }) =>
      async ({ hash }) => {
        if (wasAsked(toolCallId, messages)) {
          const { memory } = await openSession();
          return memory.asked.includes(markOf(toolCallId, hash));
        }
        // A call that was never judged here runs by a rule of the application.
        return judged.get(toolCallId)?.includes(hash) ?? true;
      },
  };
}

function markOf(toolCallId: string, hash: string): string {
  return contentHash([toolCallId, hash]);
}

/** Whether the messages have a question about the call. */
function wasAsked(toolCallId: string, messages: readonly ModelMessage[]): boolean {
  return messages.some(
    ({ role, content }) =>
      role === "assistant" &&
      typeof content !== "string" &&
      content.some((part) => part.type === "tool-approval-request" && part.toolCallId === toolCallId),
  );
}
