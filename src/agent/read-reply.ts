import { NoSuchToolError, type TextStreamPart, type ToolSet } from "ai";
import { type FinishReason, toFinishReason } from "../models/finish-reason.ts";
import type { TokenUse } from "./agent-event.ts";
import type { WantedCall } from "./call-tools.ts";
import type { Untraced } from "./run-context.ts";
import { toTokenUse } from "./token-use.ts";

/** The model's reply in one step, as far as it came. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly WantedCall[];
  readonly finish: FinishReason;
  readonly usage: TokenUse;
  /** The reply broke off. */
  readonly brokenBy?: "abort" | { readonly error: unknown };
}

/** Reads the stream of one step and tells of it while it comes. `tools` are all that can be called. */
export async function readReply(
  stream: AsyncIterable<TextStreamPart<ToolSet>>,
  step: number,
  tools: ToolSet,
  emit: (event: Untraced) => void,
): Promise<Reply> {
  let text = "";
  let finish: FinishReason = "other";
  let usage: TokenUse = { input: 0, output: 0, cached: 0 };
  const calls: WantedCall[] = [];
  for await (const part of stream) {
    if (part.type === "text-delta") {
      text += part.text;
      emit({ type: "llm-text", step, text: part.text });
    } else if (part.type === "reasoning-delta") {
      emit({ type: "llm-thinking", step, text: part.text });
    } else if (part.type === "tool-call" && !part.providerExecuted) {
      calls.push(toWantedCall(part, tools));
    } else if (part.type === "finish-step") {
      usage = toTokenUse(part.usage);
      finish = toFinishReason(part.finishReason);
      emit({ type: "llm-end", step, text, usage, finish, model: part.response.modelId, calls });
    } else if (part.type === "error") {
      return { text, calls, finish, usage, brokenBy: { error: part.error } };
    } else if (part.type === "abort") {
      return { text, calls, finish, usage, brokenBy: "abort" };
    }
  }
  return { text, calls, finish, usage };
}

/** A tool that the step does not show can still be called: the gateway checks its input. */
function toWantedCall(
  part: Extract<TextStreamPart<ToolSet>, { type: "tool-call" }>,
  tools: ToolSet,
): WantedCall {
  const { toolCallId: callId, toolName: tool, input: args, invalid, error } = part;
  const isThere = NoSuchToolError.isInstance(error) && Object.hasOwn(tools, tool);
  return { callId, tool, args, ...(invalid && !isThere && { invalid: error }) };
}
