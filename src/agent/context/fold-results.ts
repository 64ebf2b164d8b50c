import type { ModelMessage, ToolResultPart } from "ai";
import { cutText } from "../../util/cut-text.ts";
import type { TokenCounter } from "../../util/tokens.ts";

export interface FoldOptions {
  readonly countTokens: TokenCounter;
  /** Stores a text and returns its handle. */
  readonly store: (text: string) => Promise<string>;
}

export interface Folded {
  readonly messages: ModelMessage[];
  /** How many results stand behind handles now. */
  readonly folded: number;
}

/** The turns whose results stay whole: the last one and the one before. */
const WHOLE_TURNS = 2;
/** Smaller results cost little more than their handle would. */
const LARGE_TOKENS = 400;
const SHOWN_CHARS = 300;

/**
 * Puts the large results of older turns behind handles, with their beginning in place. Everything that was said and
 * called stays as it is, so that a conversation can go on longer without a summary. Images stay.
 */
export async function foldResults(
  messages: readonly ModelMessage[],
  { countTokens, store }: FoldOptions,
): Promise<Folded> {
  const prompts = messages.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  const end = prompts.at(-WHOLE_TURNS) ?? 0;
  let folded = 0;

  async function fold(part: ToolResultPart): Promise<ToolResultPart> {
    const { output } = part;
    if (output.type !== "text") return part;
    const tokens = countTokens(output.value);
    if (tokens < LARGE_TOKENS) return part;
    const handle = await store(output.value).catch(() => undefined);
    if (handle === undefined) return part;
    folded += 1;
    const start = cutText(output.value, SHOWN_CHARS);
    const value = `${start}\n[… the whole result of ${tokens.toLocaleString("en-US")} tokens can be read at ${handle}]`;
    return { ...part, output: { type: "text", value } };
  }

  const kept: ModelMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (index >= end || message.role !== "tool") {
      kept.push(message);
      continue;
    }
    const content = await Promise.all(
      message.content.map((part) => (part.type === "tool-result" ? fold(part) : part)),
    );
    kept.push({ ...message, content });
  }
  return { messages: kept, folded };
}
