import {
  type CallWarning,
  jsonSchema,
  type ModelMessage,
  Output,
  type StepResult,
  streamText,
  type ToolSet,
  type UserModelMessage,
} from "ai";
import { problem } from "../../base/problems/problem.ts";
import { systemClock } from "../../base/util/clock.ts";
import { newSpan } from "../../core/telemetry/events.ts";
import { sleep } from "../../sources/backoff.ts";
import { type FinishReason, type OutputSchema, readOutput, toJsonSchema } from "../models/model-answer.ts";
import { calculateDelay } from "../models/model-retries.ts";
import type { ModelErrorCode } from "../models/providers/model-errors.ts";
import { type Agent, type SessionState, say } from "./agent.ts";
import {
  type AgentOutcome,
  NO_TOKENS,
  type PromptFile,
  plus,
  type SpanContext,
  type UserMessage,
} from "./agent-event.ts";
import { callTools, createCallGuard, type ModelToolCall, type ToolOutcome } from "./call-tools.ts";
import { compactSession, fitContext, toInstructions } from "./fit-context.ts";
import { closeHistory } from "./history.ts";
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

interface TurnOptions {
  readonly root: SpanContext;
  readonly output: OutputSchema | undefined;
}

interface TurnStep {
  readonly result: FinishedStep;
  readonly calls: readonly ModelToolCall[];
  readonly messages: readonly ModelMessage[];
  readonly finish: FinishReason;
}

/** Opens the turn that answers a prompt. */
export async function createTurn(
  agent: Agent,
  session: SessionState,
  context: RunContext,
  options: TurnOptions,
): Promise<Turn> {
  const turnTools = await disclose(agent, session, context);
  const instructions = await toInstructions(agent.options, turnTools.instructions);
  return new Turn(agent, session, context, options, { turnTools, instructions });
}

/** The parts that every request of a turn has. */
interface TurnRequest {
  readonly turnTools: Awaited<ReturnType<typeof disclose>>;
  readonly instructions: Awaited<ReturnType<typeof toInstructions>>;
}

/** One prompt on its way to its answer. */
export class Turn {
  /** The answer so far, and its cost. */
  readonly state = { text: "", usage: NO_TOKENS, steps: 0, output: undefined as unknown };
  readonly #agent: Agent;
  readonly #session: SessionState;
  readonly #context: RunContext;
  readonly #options: TurnOptions;
  readonly #request: TurnRequest;
  readonly #guard: ReturnType<typeof createCallGuard>;
  readonly #steps: FinishedStep[] = [];
  #corrections = 0;
  #retried = false;
  /** Replies to the current request that broke off. */
  #breaks = 0;

  constructor(
    agent: Agent,
    session: SessionState,
    context: RunContext,
    options: TurnOptions,
    request: TurnRequest,
  ) {
    this.#agent = agent;
    this.#session = session;
    this.#context = context;
    this.#options = options;
    this.#request = request;
    this.#guard = createCallGuard(agent.limits.sameCalls);
  }

  /** Says a message of the person, with the skills that it calls for and what hooks and the mode add to it. */
  async hear({ prompt, files = [] }: UserMessage, skills?: string): Promise<void> {
    const { permissionMode, hooks } = this.#agent.options;
    const hooked = await hooks?.prompt?.(prompt);
    const mode = permissionMode?.() === "plan" ? PLAN_NOTE : undefined;
    const notes = [skills, mode, hooked].filter((note) => note !== undefined).filter(Boolean);
    this.say({ role: "user", content: toContent(prompt, files, notes) });
  }

  /** Asks the model and makes its calls. Returns how the run ended, if it did. */
  async next(): Promise<AgentOutcome | undefined> {
    const { result, calls, messages, finish } = await this.#askModel().catch((error: unknown) =>
      this.#retryCompacted(error),
    );
    this.#breaks = 0;
    this.say(...messages);
    this.state.steps = this.#steps.push(result);
    if (calls.length === 0) return this.#conclude(finish);
    const outcomes = await callTools(calls, {
      tools: this.#request.turnTools.tools,
      ownTools: this.#agent.options.ownTools ?? {},
      guard: this.#guard,
      context: this.#context,
      root: this.#options.root,
      session: this.#session,
      hooks: this.#agent.options.hooks,
    });
    this.say({ role: "tool", content: outcomes.map(({ part }) => part) });
    this.#steps[this.#steps.length - 1] = { ...result, toolResults: outcomes.map(toToolResult) };
    this.#request.turnTools.onStepFinish({ content: outcomes.map(toToolResult) });
    return outcomes.some(({ isStuck }) => isStuck) ? "repeating" : undefined;
  }

  /** Gives every call in the history a result, also after an interruption. */
  leave(): void {
    const closed = closeHistory(this.#session.messages);
    const added = closed.filter((message) => !this.#session.messages.includes(message));
    this.#session.messages = closed;
    this.#session.shown = closeHistory(this.#session.shown);
    for (const message of added) this.#session.log?.message(message);
  }

  say(...messages: readonly ModelMessage[]): void {
    say(this.#session, messages);
  }

  /** The next request, after the older part of the conversation was summarized if it would not fit. */
  async #assemble() {
    const { signal, emit } = this.#context;
    const { turnTools, instructions } = this.#request;
    const model = await modelOf(this.#agent);
    const toNext = () => toRequest(turnTools, this.#steps, this.#session, instructions, model);
    const { request, tokens } = await fitContext(this.#agent, this.#session, toNext, { model, signal, emit });
    this.#session.tools = Object.keys(request.tools);
    return { model, counted: tokens, ...toSent(request) };
  }

  async #askModel(): Promise<TurnStep> {
    const { signal, emit } = this.#context;
    const { turnTools } = this.#request;
    const { output: wanted } = this.#options;
    const { told, settings } = settingsOf(this.#agent.options);
    const { model, counted, ...request } = await this.#assemble();
    const step = this.#steps.length + 1;
    const span = newSpan(this.#options.root);
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
    this.state.usage = plus(this.state.usage, reply.usage);
    if (reply.usage.input > 0 && counted > 0) this.#session.scale = reply.usage.input / counted;
    if (reply.brokenBy) return this.#breakOff(reply, reply.brokenBy, span);
    this.state.text = reply.text;
    // Ignore results that the AI SDK makes for calls it refuses; this loop gives them.
    const said = (await stream.responseMessages).filter(({ role }) => role === "assistant");
    const [finished] = await stream.steps;
    for (const text of thinkingWarnings(finished!.warnings ?? [])) {
      if (this.#session.warned.has(text)) continue;
      this.#session.warned.add(text);
      emit({ type: "notice", text });
    }
    const result = { ...finished!, toolResults: [] };
    return { result, calls: reply.calls, messages: said, finish: reply.finish };
  }

  /**
   * A reply that broke off is asked for again: nothing of it is in the conversation, and none of its calls ran. If it
   * breaks too often, the conversation keeps what the model had said.
   */
  async #breakOff(
    { text: said, hasStarted }: Reply,
    by: NonNullable<Reply["brokenBy"]>,
    span: SpanContext,
  ): Promise<TurnStep> {
    const { signal, emit } = this.#context;
    const { maxRetries = MOST_BREAKS } = this.#agent.options;
    const failure = by === "abort" || !hasStarted ? undefined : toAgentError(by.error);
    if (failure && BREAKS.has(failure.code) && this.#breaks < maxRetries) {
      const delayMs = calculateDelay(this.#breaks++, 1_000, 10_000, true);
      const reason = `The answer broke off and is asked for again. ${failure.code}: ${failure.message}`;
      emit({ type: "llm-retry", attempt: this.#breaks, delayMs, reason }, span);
      await sleep(delayMs, systemClock, signal, true);
      if (!signal.aborted) return this.#askModel();
    }
    if (said !== "") this.say({ role: "assistant", content: said });
    this.state.text = said;
    throw by === "abort" ? signal.reason : by.error;
  }

  /** A provider that finds the request too long gets it once more, with a summary of the older part. */
  async #retryCompacted(error: unknown): Promise<TurnStep> {
    const { signal, emit } = this.#context;
    const { code } = toAgentError(error);
    if (signal.aborted || code !== "CONTEXT_LENGTH_EXCEEDED" || this.#retried) throw error;
    this.#retried = true;
    const compacted = await compactSession(this.#agent, this.#session, { signal, emit, keep: "turn" });
    if (!compacted) throw error;
    return this.#askModel();
  }

  async #conclude(finish: FinishReason): Promise<AgentOutcome | undefined> {
    if (finish === "length") return "cut-off";
    if (finish === "content-filter") return "filtered";
    const { output: wanted } = this.#options;
    if (!wanted) return "answered";
    const { mismatch, output: value } = await readOutput(this.state.text, wanted);
    if (mismatch === undefined) {
      this.state.output = value;
      return "answered";
    }
    if (this.#corrections++ > 0) throw problem("OUTPUT_INVALID", { reason: mismatch });
    this.say({
      role: "user",
      content: `That does not fit the schema: ${mismatch}. Answer again, with the JSON alone.`,
    });
    return undefined;
  }
}

/** Replies to one request that may break off before the run fails. */
const MOST_BREAKS = 2;
/** Failures that end a reply in the middle. */
const BREAKS: ReadonlySet<string> = new Set<ModelErrorCode>([
  "NETWORK_ERROR",
  "TIMEOUT",
  "RATE_LIMITED",
  "INVALID_RESPONSE",
]);

/** The settings of requests, and those that events tell. */
function settingsOf({ maxRetries, effort, temperature, maxTokens }: Agent["options"]) {
  const reasoning = typeof effort === "function" ? effort() : effort;
  const warmth = temperature !== undefined && { temperature };
  return {
    told: { ...warmth, ...(maxTokens !== undefined && { maxTokens }) },
    settings: {
      ...warmth,
      ...(reasoning !== undefined && { reasoning }),
      ...(maxRetries !== undefined && { maxRetries }),
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    },
  };
}

/** How a level of thinking differs from what the model can do, in the provider's words. */
function thinkingWarnings(warnings: readonly CallWarning[]): string[] {
  return warnings.flatMap((warning) =>
    "feature" in warning && warning.feature === "reasoning"
      ? [`Thinking: ${warning.details ?? "this model takes no level"}`]
      : [],
  );
}

/** Beside the prompt rather than in the instructions, so that the provider's cache holds. */
const PLAN_NOTE =
  "[The person is in plan mode: change nothing. Read what you need, and answer with a plan that they can approve.]";

export function toContent(
  prompt: string,
  files: readonly PromptFile[],
  notes: readonly string[] = [],
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
