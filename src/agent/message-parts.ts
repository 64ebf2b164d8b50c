import type { ModelMessage } from "ai";

type Part = Readonly<Record<string, unknown>>;

/** Messages as the conventions of OpenTelemetry write them: text, tool calls and their results as parts. */
export function toMessageParts(messages: readonly ModelMessage[]): readonly object[] {
  return messages.map(({ role, content }) => ({
    role,
    parts: typeof content === "string" ? [text(content)] : content.flatMap(toPart),
  }));
}

/** An answer of the model with the calls that it makes. */
export function toAnswerParts(
  said: string,
  calls: readonly { readonly callId: string; readonly tool: string; readonly args: unknown }[],
  finishReason: string,
): readonly object[] {
  const parts = [
    ...(said === "" ? [] : [text(said)]),
    ...calls.map(({ callId, tool, args }) => toolCall(callId, tool, args)),
  ];
  return [{ role: "assistant", parts, finish_reason: finishReason }];
}

function toPart(part: Exclude<ModelMessage["content"], string>[number]): Part[] {
  if (part.type === "text") return [text(part.text)];
  if (part.type === "tool-call") return [toolCall(part.toolCallId, part.toolName, part.input)];
  if (part.type !== "tool-result") return [];
  const { output } = part;
  const response = "value" in output ? output.value : null;
  return [{ type: "tool_call_response", id: part.toolCallId, response }];
}

function text(content: string): Part {
  return { type: "text", content };
}

function toolCall(id: string, name: string, args: unknown): Part {
  return { type: "tool_call", id, name, arguments: args };
}
