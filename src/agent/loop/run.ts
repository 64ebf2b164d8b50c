import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { newSpan } from "../../core/telemetry/events.ts";
import type { OutputSchema } from "../models/model-answer.ts";
import type { Agent, AgentSession, SessionState } from "./agent.ts";
import {
  type AgentEvent,
  type AgentOutcome,
  NO_TOKENS,
  type PromptFile,
  type SpanContext,
  toPrintable,
  type UserMessage,
} from "./agent-event.ts";
import { type Ask, EventQueue, type RunContext, runContext, type Untraced } from "./run-context.ts";
import { skillsFor } from "./skills-for.ts";
import { toAgentError } from "./to-agent-error.ts";
import { createTurn, type Turn } from "./turn.ts";

/** Options of {@link run}. */
export interface RunOptions {
  /** Cancels the run. The conversation can be continued afterwards. */
  readonly signal?: AbortSignal;
  /** The conversation to continue. Default: a new one. */
  readonly session?: AgentSession;
  /** Images that go with the prompt. */
  readonly files?: readonly PromptFile[];
  /** Returns messages that the person has sent since the run began. Called after tools, before the next request. */
  readonly steer?: () => Promise<readonly UserMessage[]>;
  /** Replaces the agent's `ask`. */
  readonly ask?: Ask;
  /** The shape of the answer, which `agent-end` carries as `output`: a zod schema or a JSON Schema. */
  readonly output?: OutputSchema;
}

/**
 * Runs an agent on a prompt and yields its events. Never throws; the last event except for notices is `agent-end`.
 * A reader that stops cancels the run. See {@link createAgent}.
 *
 * @example
 * ```ts
 * import { createGateway } from "keyhole";
 * import { createAgent, run } from "keyhole/agent";
 * import { createScriptedModel } from "keyhole/testing";
 *
 * const gateway = createGateway({ domains: [] });
 * const model = createScriptedModel([{ text: "Two tests fail." }]);
 * for await (const event of run(createAgent({ gateway, model }), "Which tests fail?")) {
 *   if (event.type === "llm-text") console.log(event.text);
 * }
 * await gateway.close();
 * ```
 */
export async function* run(
  agent: Agent,
  prompt: string,
  options: RunOptions = {},
): AsyncGenerator<AgentEvent, void> {
  const queue = new EventQueue<AgentEvent>();
  const left = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
  const ended = drive(agent, prompt, { ...options, signal }, queue.push).finally(queue.close);
  try {
    yield* queue.values();
  } finally {
    // A reader that stops early cancels the run.
    left.abort();
    await ended;
  }
}

/** Events that no log keeps: their texts are in the messages. */
const PASSING: ReadonlySet<AgentEvent["type"]> = new Set(["llm-text", "llm-thinking", "tool-output"]);

type RunEnd = Omit<Extract<AgentEvent, { type: "agent-end" }>, "span" | "type">;

async function drive(
  agent: Agent,
  prompt: string,
  options: RunOptions & { readonly signal: AbortSignal },
  push: (event: AgentEvent) => void,
): Promise<void> {
  const root = newSpan();
  let session: SessionState | undefined;
  const emit = (event: Untraced, span: SpanContext = root) => {
    const traced = { ...event, span } as AgentEvent;
    push(traced);
    if (!PASSING.has(event.type)) session?.log?.event(toLogged(traced));
  };
  const ask = options.ask ?? agent.options.ask;
  const context: RunContext = {
    emit,
    signal: options.signal,
    calls: new Map(),
    hooked: new Map(),
    progress: new Map(),
    keepProgress: async (callId, progress) => session?.log?.call(callId, progress),
    ...(ask && { ask }),
  };
  let turn: Turn | undefined;
  let isOurs = false;
  const end = (outcome: AgentOutcome, more: Partial<RunEnd> = {}): RunEnd => ({
    outcome,
    text: turn?.state.text ?? "",
    usage: turn?.state.usage ?? NO_TOKENS,
    steps: turn?.state.steps ?? 0,
    ...more,
  });

  async function heedSteering(turn: Turn): Promise<void> {
    for (const message of (await options.steer?.()) ?? []) {
      emit({ type: "user-message", text: message.typed ?? message.prompt });
      const { note } = await skillsFor(agent.options, session!, message.prompt);
      await turn.hear(message, note);
    }
  }

  async function play(): Promise<RunEnd> {
    session = (options.session ?? (await agent.openSession())) as SessionState;
    if (session.busy) throw problem("SESSION_BUSY", { id: session.id });
    session.busy = true;
    isOurs = true;
    const { used, note } = await skillsFor(agent.options, session, prompt);
    emit({ type: "agent-start", prompt, session: session.id, ...(used && { skills: used }) });
    if (session.notice) emit({ type: "notice", text: session.notice });
    session.notice = undefined;
    turn = await createTurn(agent, session, context, { root, output: options.output });
    await turn.hear({ prompt, files: options.files ?? [] }, note);
    while (true) {
      if (options.signal.aborted) return end("cancelled");
      const { steps, usage } = turn.state;
      if (steps >= agent.limits.steps) return end("step-limit");
      if (usage.input + usage.output >= agent.limits.tokens) return end("token-limit");
      if (steps > 0) await heedSteering(turn);
      const outcome = await turn.next();
      if (outcome) return end(outcome, endingOf(outcome, turn.state.output));
    }
  }

  const result = await runContext.run(context, () =>
    play().catch((error: unknown) =>
      options.signal.aborted ? end("cancelled") : end("failed", { error: toAgentError(error) }),
    ),
  );
  turn?.leave();
  await agent.options.hooks?.end?.({ outcome: result.outcome, text: result.text }).catch(() => {});
  emit({ type: "agent-end", ...result });
  if (!isOurs || !session) return;
  session.busy = false;
  await session.log
    ?.settle()
    .catch((error: unknown) => push({ type: "notice", text: reasonOf(error), span: root }));
  if (!options.session) await session.end().catch(() => {});
}

/** The part of an ended run besides its text: the output, or the reason why the answer is not whole. */
function endingOf(outcome: AgentOutcome, output: unknown): Partial<RunEnd> {
  if (outcome === "cut-off") return { error: toAgentError(problem("ANSWER_CUT_OFF")) };
  if (outcome === "filtered") return { error: toAgentError(problem("ANSWER_FILTERED")) };
  return output === undefined ? {} : { output };
}

/** Events whose texts are in the messages beside them. */
const REPEATING: ReadonlySet<AgentEvent["type"]> = new Set(["llm-end", "tool-end", "agent-end"]);

function toLogged(event: AgentEvent): AgentEvent {
  if (event.type === "permission-request") {
    const { diff: _, ...logged } = event;
    return logged;
  }
  const logged = toPrintable(event);
  return REPEATING.has(event.type) ? ({ ...logged, text: "" } as AgentEvent) : logged;
}
