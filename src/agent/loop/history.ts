import type { ModelMessage, ToolResultPart } from "ai";
import type { CallProgress } from "./run-context.ts";

/** The result of a call that was cut off. */
export const INTERRUPTED = "The call was interrupted: whether it took effect is not known.";
/** The result of a call that was cancelled before it began, or while the person was asked about it. */
export const NOT_RUN = "The call was cancelled before it ran: it has changed nothing.";

/** The result of a call that a program had not begun, or still asked about, when it ended. */
export const NOT_BEGUN = "The program ended before this call ran: it has changed nothing.";

/** Whether a call that got so far may have changed something. */
export function hasEffects(progress: CallProgress | undefined): boolean {
  return progress === "runs" || progress === "allowed";
}

/**
 * Repairs messages after a crash or cancellation: every call gets a result, and results without a call are
 * dropped, because providers refuse both. `resultOf` tells what became of a call without one.
 */
export function closeHistory(
  messages: readonly ModelMessage[],
  resultOf = (_callId: string) => INTERRUPTED,
): ModelMessage[] {
  const closed: ModelMessage[] = [];
  let open = new Map<string, string>();
  const settle = () => {
    if (open.size === 0) return;
    const content = [...open].map(([id, name]) => toResult(id, name, resultOf(id), false));
    closed.push({ role: "tool", content });
    open = new Map();
  };
  for (const message of messages) {
    if (message.role === "tool") {
      const content = message.content.filter(
        (part) => part.type === "tool-result" && open.delete(part.toolCallId),
      );
      const isWhole = content.length === message.content.length;
      if (content.length > 0) closed.push(isWhole ? message : { ...message, content });
      continue;
    }
    settle();
    closed.push(message);
    for (const part of message.role === "assistant" ? partsOf(message.content) : []) {
      if (part.type === "tool-call" && !part.providerExecuted) open.set(part.toolCallId, part.toolName);
    }
  }
  settle();
  return closed;
}

export function toResult(toolCallId: string, toolName: string, text: string, ok: boolean): ToolResultPart {
  const output = { type: ok ? ("text" as const) : ("error-text" as const), value: text };
  return { type: "tool-result", toolCallId, toolName, output };
}

function partsOf<T>(content: string | readonly T[]): readonly T[] {
  return typeof content === "string" ? [] : content;
}
