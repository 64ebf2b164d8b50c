import type { LanguageModel, ModelMessage, ToolResultPart } from "ai";
import { blocksOf } from "../../core/answers/content.ts";
import { toPlainText } from "../../core/nouns/plain-text.ts";
import type { ToolAnswer } from "../../gateway/toolbox.ts";

type ToolOutput = ToolResultPart["output"];

/** An answer for the model: its text, and its images and files as they are. `tagged` is the form of version 7. */
export function toToolOutput({ ok, text, data }: ToolAnswer, tagged: boolean): ToolOutput {
  if (!ok) return { type: "error-text", value: text };
  const files = blocksOf(data).flatMap((block) => {
    if (block.type === "resource_link") return [];
    const { mimeType = "application/octet-stream" } = block.type === "resource" ? block.resource : block;
    return [{ mediaType: mimeType, data: block.type === "resource" ? block.resource.blob : block.data }];
  });
  if (files.length === 0) return { type: "text", value: text };
  const parts = files.map(({ mediaType, data: base64 }) =>
    tagged
      ? { type: "file" as const, mediaType, data: { type: "data" as const, data: base64 } }
      : { type: "file-data" as const, mediaType, data: base64 },
  );
  return { type: "content", value: [{ type: "text", text }, ...parts] };
}

/** The files of an output, as base64. */
export function outputFiles(output: ToolOutput): { readonly mediaType: string; readonly data: string }[] {
  if (output.type !== "content") return [];
  return output.value.flatMap((part) => {
    if (part.type !== "file" || part.data.type !== "data" || typeof part.data.data !== "string") return [];
    return [{ mediaType: part.mediaType, data: part.data.data }];
  });
}

/** The text of an output. Files are left out. */
export function outputText(output: ToolOutput): string {
  if (output.type === "content")
    return output.value.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return "value" in output ? toPlainText(output.value) : "";
}

/**
 * The messages as a model can take them. Chat-completions models take no files in tool results: the AI SDK would
 * send them as base64 text.
 */
export function forModel(
  messages: readonly ModelMessage[],
  model: LanguageModel | undefined,
): readonly ModelMessage[] {
  if (typeof model !== "object" || !model.provider.endsWith(".chat")) return messages;
  if (!messages.some(({ role, content }) => role === "tool" && content.some(isContent))) return messages;
  return messages.map((message): ModelMessage => {
    if (message.role !== "tool") return message;
    const content = message.content.map((part) =>
      isContent(part) ? { ...part, output: { type: "text" as const, value: outputText(part.output) } } : part,
    );
    return { ...message, content };
  });
}

function isContent(part: object): part is ToolResultPart {
  return "output" in part && (part as ToolResultPart).output.type === "content";
}

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
    for (const id of pairsOf(message).asks) askedAt.set(id, at);
  });
  let cut = wanted;
  for (let at = messages.length - 1; at >= cut; at--) {
    for (const id of pairsOf(messages[at]!).answers) cut = Math.min(cut, askedAt.get(id) ?? at);
  }
  return cut;
}

/** The ids of calls and approvals that a message asks for, and of those that it answers. */
function pairsOf({ content }: ModelMessage): { asks: string[]; answers: string[] } {
  const asks: string[] = [];
  const answers: string[] = [];
  for (const part of typeof content === "string" ? [] : content) {
    if (part.type === "tool-call") asks.push(`call ${part.toolCallId}`);
    if (part.type === "tool-approval-request") asks.push(`approval ${part.approvalId}`);
    if (part.type === "tool-result") answers.push(`call ${part.toolCallId}`);
    if (part.type === "tool-approval-response") answers.push(`approval ${part.approvalId}`);
  }
  return { asks, answers };
}
