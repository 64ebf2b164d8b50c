import { asSchema, type ModelMessage, type ToolSet } from "ai";
import type { TokenCounter } from "../../base/tokens/tokens.ts";

/** The causes of tokens in a request, in the order in which vendors read them. */
export const CONTEXT_CAUSES = [
  "tools",
  "found tools",
  "instructions",
  "project",
  "skills",
  "summary",
  "prompts",
  "answers",
  "calls",
  "results",
  "images",
] as const;
export type ContextCause = (typeof CONTEXT_CAUSES)[number];

/** The tokens of one request, by cause. They add up to the whole request. */
export type ContextCount = Readonly<Record<ContextCause, number>>;

/** A request to a model, before it is sent. */
export interface ContextRequest {
  readonly tools: ToolSet;
  /** How many of them are there from the start. */
  readonly firstTools: number;
  readonly instructions: InstructionParts;
  readonly messages: readonly ModelMessage[];
}

/** The texts of the instructions; the whole is these, joined by empty lines. */
export interface InstructionParts {
  readonly instructions: string;
  readonly project: string;
  readonly skills: string;
}

/** Providers count an image by its size; this is the usual cost of a large one. */
const IMAGE_TOKENS = 1_600;
/** Marks the message that stands for the older part of a conversation. */
export const SUMMARY_START = "[Summary of the conversation so far]";
/** Marks a note with skills that a prompt calls for. */
export const SKILLS_START = "[Skills for this request]";

const NOTHING = Object.fromEntries(CONTEXT_CAUSES.map((cause) => [cause, 0])) as Record<ContextCause, number>;

export async function countContext(
  { tools, firstTools, instructions, messages }: ContextRequest,
  countTokens: TokenCounter,
): Promise<ContextCount> {
  const counts = { ...NOTHING };
  for (const [index, [name, tool]] of Object.entries(tools).entries()) {
    const cause = index < firstTools ? "tools" : "found tools";
    counts[cause] += countTokens(await toolText(name, tool));
  }
  // Counted as they are joined, so that the parts add up to the whole.
  let whole = "";
  for (const cause of ["instructions", "project", "skills"] as const) {
    const before = countTokens(whole);
    whole = joinTexts(whole, instructions[cause]);
    counts[cause] += countTokens(whole) - before;
  }
  for (const { cause, tokens } of messages.flatMap((message) => countMessage(message, countTokens))) {
    counts[cause] += tokens;
  }
  return counts;
}

export function joinTexts(...texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

export function totalOf(counts: ContextCount): number {
  return CONTEXT_CAUSES.reduce((sum, cause) => sum + counts[cause], 0);
}

/** A tool as providers get it. */
export async function toolText(name: string, { description, inputSchema }: ToolSet[string]): Promise<string> {
  const schema = await asSchema(inputSchema).jsonSchema;
  return JSON.stringify({
    name,
    ...(typeof description === "string" && { description }),
    inputSchema: schema,
  });
}

interface CountedMessage {
  readonly cause: ContextCause;
  readonly tokens: number;
}

export function countMessage({ role, content }: ModelMessage, countTokens: TokenCounter): CountedMessage[] {
  const parts: readonly object[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return parts.flatMap((part): CountedMessage[] => {
    const { type, text, toolName, input, output } = part as Readonly<Record<string, unknown>>;
    if (type === "image" || type === "file") return [{ cause: "images", tokens: IMAGE_TOKENS }];
    if (type === "tool-call") {
      return [
        { cause: "calls", tokens: countTokens(`${String(toolName)} ${JSON.stringify(input ?? null)}`) },
      ];
    }
    if (type === "tool-result") return countOutput(output, countTokens);
    if (typeof text !== "string") return [];
    return [{ cause: causeOfText(role, text), tokens: countTokens(text) }];
  });
}

function causeOfText(role: ModelMessage["role"], text: string): ContextCause {
  if (role === "assistant") return "answers";
  if (text.startsWith(SKILLS_START)) return "skills";
  return text.startsWith(SUMMARY_START) ? "summary" : "prompts";
}

function countOutput(output: unknown, countTokens: TokenCounter): CountedMessage[] {
  const { type, value } = (output ?? {}) as { readonly type?: string; readonly value?: unknown };
  if (type === "content" && Array.isArray(value)) {
    return value.map(({ type: kind, text }: { type: string; text?: string }): CountedMessage => {
      if (kind === "text") return { cause: "results", tokens: countTokens(text ?? "") };
      return { cause: "images", tokens: IMAGE_TOKENS };
    });
  }
  const text = typeof value === "string" ? value : JSON.stringify(value ?? "");
  return [{ cause: "results", tokens: countTokens(text) }];
}
