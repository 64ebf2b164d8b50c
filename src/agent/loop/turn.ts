import {
  jsonSchema,
  type ModelMessage,
  Output,
  type StepResult,
  streamText,
  type ToolSet,
  type UserModelMessage,
} from "ai";
import { problem } from "../../base/problems/problem.ts";
import { newSpan } from "../../core/telemetry/events.ts";
import { type FinishReason, type OutputSchema, readOutput, toJsonSchema } from "../models/model-answer.ts";
import type { Agent, SessionState } from "./agent.ts";
import { type AgentOutcome, NO_TOKENS, type PromptFile, plus, type SpanContext } from "./agent-event.ts";
import { callTools, createCallGuard, type ModelToolCall, type ToolOutcome } from "./call-tools.ts";
import { compactSession, fitContext } from "./fit-context.ts";
import { closeHistory } from "./history.ts";
import { toInstructions } from "./instructions.ts";
import {
  disclose,
  type FinishedStep,
  modelOf,
  nameOf,
  type Reply,
  readReply,
  toRequest,
  toSent,
} from "./model-request.ts";
import type { RunContext } from "./run-context.ts";
import { toAgentError } from "./to-agent-error.ts";

/** One prompt on its way to its answer. */
export type Turn = Awaited<ReturnType<typeof createTurn>>;

interface TurnOptions {
  readonly root: SpanContext;
  /** The part of the skills that the prompt calls for. */
  readonly skills: string;
  readonly output: OutputSchema | undefined;
  readonly files: readonly PromptFile[];
}

interface TurnStep {
  readonly result: FinishedStep;
  readonly calls: readonly ModelToolCall[];
  readonly messages: readonly ModelMessage[];
  readonly finish: FinishReason;
}

export async function createTurn(
  agent: Agent,
  session: SessionState,
  prompt: string,
  context: RunContext,
  { root, skills, output: wanted, files }: TurnOptions,
) {
  const { ownTools = {}, maxRetries, effort, temperature, maxTokens } = agent.options;
  const told = {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
  };
  const settings = {
    ...(temperature !== undefined && { temperature }),
    ...(effort !== undefined && { reasoning: effort }),
    ...(maxRetries !== undefined && { maxRetries }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
  };
  const { signal, emit } = context;
  const turnTools = await disclose(agent, session, context);
  const instructions = await toInstructions(agent.options, turnTools.instructions, skills);
  const guard = createCallGuard(agent.limits.sameCalls);
  const steps: FinishedStep[] = [];
  /** The answer so far, and its cost. */
  const state = { text: "", usage: NO_TOKENS, steps: 0, output: undefined as unknown };
  let corrections = 0;
  let retried = false;

  function say(...messages: readonly ModelMessage[]): void {
    session.messages.push(...messages);
    session.shown.push(...messages);
    for (const message of messages) session.log?.message(message);
  }

  /** The next request, after the older part of the conversation was summarized if it would not fit. */
  async function assemble() {
    const model = await modelOf(agent);
    const toNext = () => toRequest(turnTools, steps, session, instructions, model);
    const { request, tokens } = await fitContext(agent, session, toNext, { model, signal, emit });
    session.tools = Object.keys(request.tools);
    return { model, counted: tokens, ...toSent(request) };
  }

  async function askModel(): Promise<TurnStep> {
    const { model, counted, ...request } = await assemble();
    const step = steps.length + 1;
    const span = newSpan(root);
    const messages = [...request.messages];
    emit({ type: "llm-start", step, model: nameOf(model), messages, ...told }, span);
    const stream = streamText({
      model,
      ...request,
      ...settings,
      toolChoice: "auto",
      repairToolCall: turnTools.repairToolCall,
      abortSignal: signal,
      ...(wanted && { output: Output.object({ schema: jsonSchema(toJsonSchema(wanted)) }) }),
      // Errors also arrive as parts of the stream.
      onError: () => {},
    });
    const reply = await readReply(stream.fullStream, step, turnTools.tools, (event) => emit(event, span));
    state.usage = plus(state.usage, reply.usage);
    if (reply.usage.input > 0 && counted > 0) session.scale = reply.usage.input / counted;
    if (reply.brokenBy) return breakOff(reply.text, reply.brokenBy);
    state.text = reply.text;
    // Ignore results that the AI SDK makes for calls it refuses; this loop gives them.
    const said = (await stream.responseMessages).filter(({ role }) => role === "assistant");
    const [finished] = await stream.steps;
    const result = { ...finished!, toolResults: [] };
    return { result, calls: reply.calls, messages: said, finish: reply.finish };
  }

  /** The conversation keeps what the model had said. */
  function breakOff(said: string, by: NonNullable<Reply["brokenBy"]>): never {
    if (said !== "") say({ role: "assistant", content: said });
    state.text = said;
    throw by === "abort" ? signal.reason : by.error;
  }

  /** A provider that finds the request too long gets it once more, with a summary of the older part. */
  async function retryCompacted(error: unknown): Promise<TurnStep> {
    const { code } = toAgentError(error);
    if (signal.aborted || code !== "CONTEXT_LENGTH_EXCEEDED" || retried) throw error;
    retried = true;
    const compacted = await compactSession(agent, session, { signal, emit, keep: "turn" });
    if (!compacted) throw error;
    return askModel();
  }

  async function conclude(finish: FinishReason): Promise<AgentOutcome | undefined> {
    if (finish === "length") return "cut-off";
    if (finish === "content-filter") return "filtered";
    if (!wanted) return "answered";
    const { mismatch, output: value } = await readOutput(state.text, wanted);
    if (mismatch === undefined) {
      state.output = value;
      return "answered";
    }
    if (corrections++ > 0) throw problem("OUTPUT_INVALID", { reason: mismatch });
    say({
      role: "user",
      content: `That does not fit the schema: ${mismatch}. Answer again, with the JSON alone.`,
    });
    return undefined;
  }

  const isPlanning = agent.options.permissionMode?.() === "plan";
  const hooked = await agent.options.hooks?.prompt?.(prompt);
  const notes = [...(isPlanning ? [PLAN_NOTE] : []), ...(hooked ? [hooked] : [])];
  say({ role: "user", content: toContent(prompt, files, notes) });
  return {
    state,
    /** Asks the model and makes its calls. Returns how the run ended, if it did. */
    next: async (): Promise<AgentOutcome | undefined> => {
      const { result, calls, messages, finish } = await askModel().catch(retryCompacted);
      say(...messages);
      state.steps = steps.push(result);
      if (calls.length === 0) return conclude(finish);
      const outcomes = await callTools(calls, {
        tools: turnTools.tools,
        ownTools,
        guard,
        context,
        root,
        session,
        hooks: agent.options.hooks,
      });
      say({ role: "tool", content: outcomes.map(({ part }) => part) });
      steps[steps.length - 1] = { ...result, toolResults: outcomes.map(toToolResult) };
      turnTools.onStepFinish({ content: outcomes.map(toToolResult) });
      return outcomes.some(({ isStuck }) => isStuck) ? "repeating" : undefined;
    },
    /** Gives every call in the history a result, also after an interruption. */
    leave: () => {
      const closed = closeHistory(session.messages);
      const added = closed.filter((message) => !session.messages.includes(message));
      session.messages = closed;
      session.shown = closeHistory(session.shown);
      for (const message of added) session.log?.message(message);
    },
  };
}

/** Beside the prompt rather than in the instructions, so that the provider's cache holds. */
const PLAN_NOTE =
  "[The person is in plan mode: change nothing. Read what you need, and answer with a plan that they can approve.]";

function toContent(
  prompt: string,
  files: readonly PromptFile[],
  notes: readonly string[],
): UserModelMessage["content"] {
  if (files.length === 0 && notes.length === 0) return prompt;
  return [
    { type: "text", text: prompt },
    ...notes.map((text) => ({ type: "text" as const, text })),
    ...files.map(({ mediaType, data }) => ({ type: "file" as const, mediaType, data })),
  ];
}

function toToolResult({ call, output, part }: ToolOutcome) {
  const type = part.output.type.startsWith("error") ? ("tool-error" as const) : ("tool-result" as const);
  const common = { toolCallId: call.callId, toolName: call.tool, input: call.args, dynamic: true as const };
  return { ...common, type, output, error: output } as StepResult<ToolSet>["toolResults"][number];
}
