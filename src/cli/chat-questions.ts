import type { AgentEvent } from "../agent/agent-event.ts";
import { newSpan } from "../telemetry/trace-context.ts";
import type { PermissionAnswer } from "../tui/chat-agent.ts";

/** Questions of the chat itself, shown like those of tools: whole, in pages, and answered by a choice. */
export interface ChatQuestions {
  /** Yields the question and its answer as events. Returns whether the person agreed. */
  ask(scope: ChatScope, action: string, signal: AbortSignal): AsyncGenerator<AgentEvent, boolean>;
  /** Takes an answer. False if the question is not one of these. */
  answer(callId: string, answer: PermissionAnswer): boolean;
}

/** The subject of such a question: trust in the folder, the definitions of a server, or its start. */
export type ChatScope = "folder" | "definitions" | "server";

export function createChatQuestions(): ChatQuestions {
  const waiting = new Map<string, (answer: PermissionAnswer) => void>();
  let asked = 0;
  return {
    ask: async function* (scope, action, signal) {
      const { promise, resolve } = Promise.withResolvers<PermissionAnswer>();
      asked += 1;
      const about = { callId: `question-${asked}`, span: newSpan() };
      waiting.set(about.callId, resolve);
      signal.addEventListener("abort", () => resolve("deny"), { once: true });
      if (signal.aborted) resolve("deny");
      yield { type: "permission-request", scope, action, reason: "", always: [], ...about };
      const agreed = (await promise) === "once";
      waiting.delete(about.callId);
      yield { type: "permission-answer", answer: agreed ? "once" : "deny", ...about };
      return agreed;
    },
    answer: (callId, answer) => {
      const resolve = waiting.get(callId);
      resolve?.(answer);
      return resolve !== undefined;
    },
  };
}

export function noticeOf(text: string): AgentEvent {
  return { type: "notice", text, span: newSpan() };
}
