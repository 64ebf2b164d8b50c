import {
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  NoSuchToolError,
  Output,
  type StepResult,
  streamText,
  type ToolSet,
} from "ai";
import { createLoopDisclosure, type Disclosure } from "../ai-sdk/disclosure.ts";
import { type FinishReason, toFinishReason } from "../models/finish-reason.ts";
import { type OutputSchema, readOutput, toJsonSchema } from "../models/structured-output.ts";
import { problem } from "../schema/problem.ts";
import { newSpan, traceBelow } from "../telemetry/trace-context.ts";
import type { Agent, ModelGiven, SessionState } from "./agent.ts";
import type { AgentOutcome, SpanContext, TokenUse } from "./agent-event.ts";
import { createApprove } from "./approval.ts";
import { createCallGuard } from "./call-guard.ts";
import { callTools, type ToolOutcome, type WantedCall } from "./call-tools.ts";
import { closeHistory } from "./history.ts";
import { toInstructions } from "./instructions.ts";
import { type RunContext, runContext } from "./run-context.ts";

const WORKSPACE = ["workspace"];

/** One prompt on its way to its answer. */
export interface Turn {
  readonly text: string;
  readonly usage: TokenUse;
  readonly steps: number;
  readonly output: unknown;
  /** Asks the model and makes its calls. Returns how the run ended, if it did. */
  next(): Promise<AgentOutcome | undefined>;
  /** Gives every call in the history a result, also after an interruption. */
  leave(): void;
}

export interface TurnOptions {
  readonly root: SpanContext;
  /** The part of the skills that the prompt calls for. */
  readonly skills: string;
  readonly output: OutputSchema | undefined;
}

interface Step {
  readonly result: Pick<StepResult<ToolSet>, "toolResults">;
  readonly calls: readonly WantedCall[];
  readonly messages: readonly ModelMessage[];
  readonly finish: FinishReason;
}

export async function createTurn(
  agent: Agent,
  session: SessionState,
  prompt: string,
  context: RunContext,
  { root, skills, output: wanted }: TurnOptions,
): Promise<Turn> {
  const { gateway, mode, principal, ownTools = {}, trim, maxRetries, writes } = agent.options;
  const { temperature, maxTokens } = agent.options;
  const sampling = temperature === undefined ? {} : { temperature };
  const { askingDomains = WORKSPACE } = agent.options;
  const { signal, emit } = context;
  // A conversation may outlive its gateway session.
  session.handle = await gateway.openSession({ resume: session.handle, ...(principal && { principal }) });
  const disclosure = await createLoopDisclosure(gateway, {
    session: session.handle,
    ...(mode && { mode }),
    ...(principal && { principal }),
    approvals: "gateway",
    approve: createApprove(session),
    policy: { asks: writes === "ask" ? "writes" : "destructive", selfAsking: askingDomains },
    ownTools,
    trace: () => {
      const span = runContext.getStore()?.call?.span;
      return span && traceBelow(span, session.id);
    },
    ...(trim !== undefined && { trim }),
  });
  const instructions = await toInstructions(agent.options, disclosure.instructions, skills);
  const guard = createCallGuard(agent.limits.sameCalls);
  const shownTools = withoutExecute(disclosure.tools);
  const steps: Step["result"][] = [];
  let usage: TokenUse = { input: 0, output: 0, cached: 0 };
  let text = "";
  let output: unknown;
  let corrections = 0;

  function say(...messages: readonly ModelMessage[]): void {
    session.messages.push(...messages);
    session.shown.push(...messages);
    for (const message of messages) session.log?.message(message);
  }

  async function askModel(): Promise<Step> {
    const model = await modelOf(agent);
    const prepared = await prepare(disclosure, steps, session, instructions, model);
    session.shown = [...(prepared.messages ?? session.shown)];
    const step = steps.length + 1;
    const span = newSpan(root);
    emit(
      {
        type: "llm-start",
        step,
        model: nameOf(model),
        messages: [...session.shown],
        ...sampling,
        ...(maxTokens !== undefined && { maxTokens }),
      },
      span,
    );
    const stream = streamText({
      model,
      tools: shownTools,
      messages: session.shown,
      instructions: prepared.instructions ?? instructions,
      ...(prepared.activeTools && { activeTools: prepared.activeTools }),
      toolChoice: "auto",
      repairToolCall: disclosure.repairToolCall,
      abortSignal: signal,
      ...(maxRetries !== undefined && { maxRetries }),
      ...sampling,
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
      ...(wanted && { output: Output.object({ schema: jsonSchema(toJsonSchema(wanted)) }) }),
      // Errors also arrive as parts of the stream.
      onError: () => {},
    });
    let said = "";
    let finish: FinishReason = "other";
    const calls: WantedCall[] = [];
    for await (const part of stream.fullStream) {
      if (part.type === "text-delta") {
        said += part.text;
        emit({ type: "llm-text", step, text: part.text }, span);
      } else if (part.type === "tool-call" && !part.providerExecuted) {
        const { toolCallId: callId, toolName: tool, input: args } = part;
        // A tool that the step does not show can still be called: the gateway checks its input.
        const isThere = NoSuchToolError.isInstance(part.error) && Object.hasOwn(disclosure.tools, tool);
        calls.push({ callId, tool, args, ...(part.invalid && !isThere && { invalid: part.error }) });
      } else if (part.type === "finish-step") {
        usage = plus(usage, part.usage);
        finish = toFinishReason(part.finishReason);
        const used = plus(NONE, part.usage);
        const { modelId } = part.response;
        emit({ type: "llm-end", step, text: said, usage: used, finish, model: modelId, calls }, span);
      } else if (part.type === "error") {
        if (said !== "") say({ role: "assistant", content: said });
        throw part.error;
      } else if (part.type === "abort") {
        if (said !== "") say({ role: "assistant", content: said });
        text = said;
        throw signal.reason;
      }
    }
    text = said;
    // Ignore results that the AI SDK makes for calls it refuses; this loop gives them.
    const messages = (await stream.responseMessages).filter(({ role }) => role === "assistant");
    return { result: await toStepResult(stream), calls, messages, finish };
  }

  async function conclude(finish: FinishReason): Promise<AgentOutcome | undefined> {
    if (finish === "length") return "cut-off";
    if (finish === "content-filter") return "filtered";
    if (!wanted) return "answered";
    const read = await readOutput(text, wanted);
    if (read.ok) {
      output = read.value;
      return "answered";
    }
    if (corrections++ > 0) throw problem("OUTPUT_INVALID", { reason: read.reason });
    say({
      role: "user",
      content: `That does not fit the schema: ${read.reason}. Answer again, with the JSON alone.`,
    });
    return undefined;
  }

  say({ role: "user", content: prompt });
  return {
    get text() {
      return text;
    },
    get usage() {
      return usage;
    },
    get steps() {
      return steps.length;
    },
    get output() {
      return output;
    },
    next: async () => {
      const { result, calls, messages, finish } = await askModel();
      say(...messages);
      steps.push(result);
      if (calls.length === 0) return conclude(finish);
      const outcomes = await callTools(calls, {
        tools: disclosure.tools,
        ownTools,
        guard,
        context,
        root,
        session,
      });
      say({ role: "tool", content: outcomes.map(({ part }) => part) });
      steps[steps.length - 1] = { ...result, toolResults: outcomes.map(toToolResult) };
      disclosure.onStepFinish({ content: outcomes.map(toToolResult) });
      return outcomes.some(({ isStuck }) => isStuck) ? "repeating" : undefined;
    },
    leave: () => {
      const closed = closeHistory(session.messages);
      const added = closed.filter((message) => !session.messages.includes(message));
      session.messages = closed;
      session.shown = closeHistory(session.shown);
      for (const message of added) session.log?.message(message);
    },
  };
}

async function modelOf({ options: { model } }: Agent): Promise<LanguageModel> {
  const given: ModelGiven = typeof model === "function" ? await model() : model;
  if (typeof given === "string" || !("success" in given)) return given;
  if (given.success) return given.result;
  throw given;
}

function nameOf(model: LanguageModel): string {
  return typeof model === "string" ? model : model.modelId;
}

type Prepare = Parameters<Disclosure["prepareStep"]>[0];

async function prepare(
  disclosure: Disclosure,
  steps: readonly Step["result"][],
  { messages, shown }: Pick<SessionState, "messages" | "shown">,
  instructions: string,
  model: LanguageModel,
) {
  const asked = {
    steps,
    stepNumber: steps.length,
    model,
    messages: shown,
    initialMessages: messages,
    instructions,
    initialInstructions: instructions,
  };
  // The AI SDK's own loop passes more fields, which a disclosure does not read.
  return (await disclosure.prepareStep(asked as unknown as Prepare)) ?? {};
}

/** The loop makes the calls itself, so that each has its events, its limits and always a result. */
function withoutExecute(tools: ToolSet): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, { execute: _, needsApproval: __, ...tool }]) => [
      name,
      tool as ToolSet[string],
    ]),
  );
}

async function toStepResult(stream: {
  readonly steps: PromiseLike<readonly StepResult<ToolSet>[]>;
}): Promise<Step["result"]> {
  const [step] = await stream.steps;
  return { ...step!, toolResults: [] };
}

function toToolResult({ call, output, part }: ToolOutcome) {
  const type = part.output.type.startsWith("error") ? ("tool-error" as const) : ("tool-result" as const);
  const common = { toolCallId: call.callId, toolName: call.tool, input: call.args, dynamic: true as const };
  return { ...common, type, output, error: output } as StepResult<ToolSet>["toolResults"][number];
}

const NONE: TokenUse = { input: 0, output: 0, cached: 0 };

function plus(
  { input, output, cached }: TokenUse,
  { inputTokens = 0, outputTokens = 0, inputTokenDetails }: StepResult<ToolSet>["usage"],
): TokenUse {
  return {
    input: input + inputTokens,
    output: output + outputTokens,
    cached: cached + (inputTokenDetails?.cacheReadTokens ?? 0),
  };
}
