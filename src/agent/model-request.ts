import type { LanguageModel, ModelMessage, StepResult, SystemModelMessage, ToolSet } from "ai";
import type { LoopDisclosure } from "../ai-sdk/disclosure.ts";
import type { SessionState } from "./agent.ts";
import { type ContextRequest, type InstructionParts, joinTexts } from "./context/count-context.ts";

type Prepare = Parameters<LoopDisclosure["prepareStep"]>[0];

/** The part of a finished step that a disclosure reads. */
export type FinishedStep = Pick<StepResult<ToolSet>, "toolResults">;

/** The options of the AI SDK that make up a request. */
export interface SentRequest {
  readonly tools: ToolSet;
  readonly instructions: SystemModelMessage;
  readonly messages: ModelMessage[];
}

/** The next request of a conversation: the tools in a stable order, the instructions, the messages. */
export async function toRequest(
  disclosure: LoopDisclosure,
  steps: readonly FinishedStep[],
  session: Pick<SessionState, "shown">,
  instructions: InstructionParts,
  model: LanguageModel,
): Promise<ContextRequest> {
  const whole = joined(instructions);
  const asked = {
    steps,
    stepNumber: steps.length,
    model,
    messages: session.shown,
    initialMessages: session.shown,
    instructions: whole,
    initialInstructions: whole,
  };
  // The AI SDK's own loop passes more fields, which a disclosure does not read.
  const prepared = (await disclosure.prepareStep(asked as unknown as Prepare)) ?? {};
  const names = prepared.activeTools ?? Object.keys(disclosure.tools);
  const tools = names.map((name) => [name, withoutExecute(disclosure.tools[name]!)]);
  const reminded = typeof prepared.instructions === "string" ? prepared.instructions : whole;
  const memory = reminded.slice(whole.length).trim();
  return {
    tools: Object.fromEntries(tools),
    firstTools: disclosure.firstTools,
    instructions:
      memory === "" ? instructions : { ...instructions, skills: joinTexts(instructions.skills, memory) },
    messages: prepared.messages ?? session.shown,
  };
}

/** Anthropic caches a request up to each mark, and takes four of them. Other providers ignore the marks. */
const CACHED = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

/**
 * Marks the ends of the parts that later requests repeat: the first tools, which stay when others are found; all
 * tools with the instructions; and the messages, at their end and where the previous request ended.
 */
export function toSent({ tools, firstTools, instructions, messages }: ContextRequest): SentRequest {
  const lastFirst = Object.keys(tools)[firstTools - 1];
  const marked =
    lastFirst === undefined ? {} : { [lastFirst]: { ...tools[lastFirst]!, providerOptions: CACHED } };
  const previous = messages.findLastIndex(({ role }, at) => at < messages.length - 1 && role !== "assistant");
  return {
    tools: { ...tools, ...(marked as ToolSet) },
    instructions: { role: "system", content: joined(instructions), providerOptions: CACHED },
    messages: messages.map((message, at) =>
      at === messages.length - 1 || at === previous ? { ...message, providerOptions: CACHED } : message,
    ),
  };
}

function joined({ instructions, project, skills }: InstructionParts): string {
  return joinTexts(instructions, project, skills);
}

/** The loop makes the calls itself, so that each has its events, its limits and always a result. */
function withoutExecute({ execute: _, needsApproval: __, ...tool }: ToolSet[string]): ToolSet[string] {
  return tool as ToolSet[string];
}
