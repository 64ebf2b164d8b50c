import type { ModelMessage } from "ai";

/** When a long conversation is cut, and how much of it stays. */
export interface TrimOptions {
  /** Up to this many messages nothing is cut. Default: 20. */
  readonly most?: number;
  /** How many of the last messages stay if there are more than that. Default: 10. */
  readonly keep?: number;
}

const MOST = 20;
const KEEP = 10;

/**
 * Returns the system messages and the latest others, beginning with a user message. It never separates a tool call
 * from its result or an approval from its request: the cut then falls before both.
 */
export function trimMessages(
  messages: readonly ModelMessage[],
  { most = MOST, keep = KEEP }: TrimOptions = {},
): ModelMessage[] {
  if (messages.length <= most) return [...messages];
  const cut = wholeCut(messages, Math.max(0, messages.length - keep));
  const cutOff = messages.slice(0, cut);
  const system = cutOff.filter(({ role }) => role === "system");
  const asked = messages[cut]?.role === "user" ? undefined : cutOff.findLast(({ role }) => role === "user");
  return [...system, ...(asked ? [asked] : []), ...messages.slice(cut)];
}

/** Returns the nearest place at or before `wanted` that separates no question from its answer. */
export function wholeCut(messages: readonly ModelMessage[], wanted: number): number {
  const askedAt = new Map<string, number>();
  messages.forEach((message, at) => {
    for (const id of asksOf(message)) askedAt.set(id, at);
  });
  let cut = wanted;
  for (let at = messages.length - 1; at >= cut; at--) {
    for (const id of answersOf(messages[at]!)) cut = Math.min(cut, askedAt.get(id) ?? at);
  }
  return cut;
}

function asksOf({ content }: ModelMessage): string[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => {
    if (part.type === "tool-call") return [`call ${part.toolCallId}`];
    if (part.type === "tool-approval-request") return [`approval ${part.approvalId}`];
    return [];
  });
}

function answersOf({ content }: ModelMessage): string[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => {
    if (part.type === "tool-result") return [`call ${part.toolCallId}`];
    if (part.type === "tool-approval-response") return [`approval ${part.approvalId}`];
    return [];
  });
}
