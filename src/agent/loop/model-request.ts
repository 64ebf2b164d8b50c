import { isDeepStrictEqual } from "node:util";
import { type LanguageModel, NoSuchToolError, type StepResult, type TextStreamPart, type ToolSet } from "ai";
import type { Approve, BeforeCall } from "../../core/calls/call-environment.ts";
import { traceBelow } from "../../core/telemetry/events.ts";
import { createLoopTools, type LoopTools } from "../../faces/ai-sdk/ai-sdk-tools.ts";
import { faceApiOf } from "../../gateway/face-api.ts";
import { type ContextRequest, type InstructionParts, joinTexts } from "../context/count-context.ts";
import { type FinishReason, toFinishReason } from "../models/model-answer.ts";
import type { Agent, AgentHooks, AgentOptions, ModelGiven, SessionState } from "./agent.ts";
import { NO_TOKENS, type TokenUse, toTokenUse } from "./agent-event.ts";
import type { ModelToolCall } from "./call-tools.ts";
import { approveIn, callQuestion, type RunContext, runContext, type Untraced } from "./run-context.ts";

type Prepare = Parameters<LoopTools["prepareStep"]>[0];

/** The part of a finished step that the turn reads. */
export type FinishedStep = Pick<StepResult<ToolSet>, "toolResults">;

/** The next request of a conversation: the tools in a stable order, the instructions, the messages. */
export async function toRequest(
  turnTools: LoopTools,
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
  // The AI SDK's own loop passes more fields, which `prepareStep` does not read.
  const prepared = (await turnTools.prepareStep(asked as unknown as Prepare)) ?? {};
  const names = prepared.activeTools ?? Object.keys(turnTools.tools);
  const tools = names.map((name) => [name, withoutExecute(turnTools.tools[name]!)]);
  const reminded = typeof prepared.instructions === "string" ? prepared.instructions : whole;
  const memory = reminded.slice(whole.length).trim();
  return {
    tools: Object.fromEntries(tools),
    firstTools: turnTools.firstTools,
    instructions:
      memory === "" ? instructions : { ...instructions, skills: joinTexts(instructions.skills, memory) },
    messages: prepared.messages ?? session.shown,
  };
}

/** Anthropic caches a request up to each mark, and takes four of them. Other providers ignore the marks. */
const CACHED = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

/**
 * Marks the ends of the parts that later requests repeat: the tools with the instructions, and the messages, at their
 * end and where the previous request ended. The tools alone are shorter than what providers cache.
 */
export function toSent({ tools, instructions, messages }: ContextRequest) {
  const previous = messages.findLastIndex(({ role }, at) => at < messages.length - 1 && role !== "assistant");
  return {
    tools,
    instructions: { role: "system" as const, content: joined(instructions), providerOptions: CACHED },
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

/** The model of an agent's next request. */
export async function modelOf({ options: { model } }: Agent): Promise<LanguageModel> {
  const given: ModelGiven = typeof model === "function" ? await model() : model;
  if (typeof given === "string" || !("success" in given)) return given;
  if (given.success) return given.result;
  throw given;
}

export function nameOf(model: LanguageModel): string {
  return typeof model === "string" ? model : model.modelId;
}

/** The model's reply in one step, as far as it came. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly finish: FinishReason;
  readonly usage: TokenUse;
  /** Whether any of it arrived. */
  readonly hasStarted: boolean;
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
  let hasStarted = false;
  let usage = NO_TOKENS;
  const calls: ModelToolCall[] = [];
  for await (const part of stream) {
    hasStarted ||= CONTENT.has(part.type);
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
      return { text, calls, finish, usage, hasStarted, brokenBy: { error: part.error } };
    } else if (part.type === "abort") {
      return { text, calls, finish, usage, hasStarted, brokenBy: "abort" };
    }
  }
  return { text, calls, finish, usage, hasStarted };
}

/** Parts after which a model client no longer repeats a request by itself. */
const CONTENT: ReadonlySet<string> = new Set([
  "text-delta",
  "reasoning-delta",
  "tool-input-start",
  "tool-call",
]);

/** A tool that the step does not show can still be called: the gateway checks its input. */
function toWantedCall(
  part: Extract<TextStreamPart<ToolSet>, { type: "tool-call" }>,
  tools: ToolSet,
): ModelToolCall {
  const { toolCallId: callId, toolName: tool, input: args, invalid, error } = part;
  const isThere = NoSuchToolError.isInstance(error) && Object.hasOwn(tools, tool);
  return { callId, tool, args, ...(invalid && !isThere && { invalid: error }) };
}

const WORKSPACE = ["workspace"];
/** A command beside the conversation is a command of the shell. */
const BACKGROUND = "desk.background";
const SHELL = ["workspace.shell", "shell"];

/** The tools of a conversation's next turn. Questions about their calls go to the person of the run. */
export async function disclose(
  agent: Agent,
  session: SessionState,
  context?: RunContext,
): Promise<LoopTools> {
  const { gateway, mode, principal, ownTools = {}, writes } = agent.options;
  const { hands = WORKSPACE, permissionMode, permissions, hooks } = agent.options;
  // The menu names the servers, so one that joins later would cost the provider's cache of the whole conversation.
  if (context && mode === "fixed" && session.messages.length === 0)
    await faceApiOf(gateway).view("started", principal);
  // A conversation may outlive its gateway session.
  session.handle = await gateway.openSession({ resume: session.handle, ...(principal && { principal }) });
  const asksWrites = writes === "ask" || permissionMode?.() === "plan";
  return createLoopTools(gateway, {
    session: session.handle,
    ...(mode && { mode }),
    ...(principal && { principal }),
    approvals: context
      ? {
          answersFor: ({ toolCallId }) => ({
            approve: createApprove(context, toolCallId, session, { permissionMode, permissions }),
            ...(hooks?.beforeTool && { beforeCall: hookCalls(hooks.beforeTool, toolCallId, context) }),
          }),
        }
      : "gateway",
    policy: { asks: asksWrites ? "writes" : "never" },
    ownTools,
    hands,
    kept: session.tools,
    trace: () => {
      const span = runContext.getStore()?.call?.span;
      return span && traceBelow(span, session.id);
    },
    // The agent counts tokens and summarizes; it never cuts by the number of messages.
    trim: false,
  });
}

/** Lets the person's hooks judge every call that a call of the model makes, by the names of the tool that runs. */
function hookCalls(
  beforeTool: NonNullable<AgentHooks["beforeTool"]>,
  callId: string,
  { hooked }: RunContext,
): BeforeCall {
  return ({ op, name }, args) => {
    const isCommand = op === BACKGROUND && args.command !== undefined;
    const aliases = [name, ...(isCommand ? SHELL : [])];
    const outer = hooked.get(callId);
    outer?.aliases.push(op, ...aliases);
    // The args of the call that runs have the defaults of the tool besides.
    const isSame = Object.entries(outer?.args ?? {}).every(([key, value]) =>
      isDeepStrictEqual(args[key], value),
    );
    return beforeTool({ tool: op, args, aliases, within: isSame ? outer?.tool : undefined });
  };
}

const PLANNING = "They are in plan mode: nothing may be changed. Read what you need, and answer with a plan.";

/** Asks the person in whose run a call is made. An op that they allowed for the conversation is not asked again. */
function createApprove(
  context: RunContext,
  callId: string,
  { approved }: Pick<SessionState, "approved">,
  { permissionMode: mode, permissions }: Pick<AgentOptions, "permissionMode" | "permissions">,
): Approve {
  const call = { callId, span: context.calls.get(callId)! };
  const approve = approveIn(context, call);
  return async (question) => {
    // A tool that asks by itself has rules of its own.
    if (question.asks) return approve(question);
    if (mode?.() === "plan") return { declined: PLANNING };
    if (approved.has(question.op)) return { by: "person, for the conversation" };
    // A rule speaks for plain writes; what destroys, or follows text that steers, needs a person.
    const rules = question.why === "writes" ? permissions?.tool(question.op) : undefined;
    if (rules?.isAllowed) return { by: "person, by a rule" };
    const answer = await approve(rules ? { ...question, asks: callQuestion(question, rules) } : question);
    if (typeof answer !== "object" || !("lasts" in answer)) return answer;
    approved.add(question.op);
    if (answer.lasts === "always") await rules?.keep();
    return answer;
  };
}
