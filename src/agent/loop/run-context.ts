import { AsyncLocalStorage } from "node:async_hooks";
import { reasonOf } from "../../base/util/reason-of.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import type { Approve } from "../../core/calls/call-environment.ts";
import type { ApprovalRequest } from "../../core/calls/decide-call.ts";
import type { ToolQuestion } from "../../core/nouns/question.ts";
import type { PermissionAnswer } from "../permissions/permissions.ts";
import { showExactly } from "../permissions/to-request.ts";
import type { AgentEvent, SpanContext } from "./agent-event.ts";

export type Untraced = AgentEvent extends infer E ? (E extends AgentEvent ? Omit<E, "span"> : never) : never;

/** A call as hooks see it. */
export interface HookedCall {
  /** The tool that the model called, or the op of a tool that ran in that call. */
  readonly tool: string;
  readonly args: unknown;
  /** Other names of the tool, or of the tools that ran. */
  readonly aliases?: readonly string[];
  /** The tool that the model called with the same args, if this one ran in it. */
  readonly within?: string | undefined;
}

/** `waits`: the person was asked before it did anything; `allowed`: they said yes, or a tool that asks has begun. */
export type CallProgress = "runs" | "waits" | "allowed";

/** The current run, and its current tool call if there is one. */
export interface RunContext {
  emit(event: Untraced, span?: SpanContext): void;
  readonly ask?: Ask;
  readonly signal: AbortSignal;
  /** The spans of the calls that run, by id. */
  readonly calls: Map<string, SpanContext>;
  /** The calls of the model that run, by id, with the names of everything that ran in them. */
  readonly hooked: Map<string, HookedCall & { readonly aliases: string[] }>;
  /** How far the calls that run have come, by id. A call that is not in it has not begun. */
  readonly progress: Map<string, CallProgress>;
  /** Resolves when the progress is on disk, so that a killed process leaves it behind. */
  keepProgress?(callId: string, progress: CallProgress): Promise<void>;
  readonly call?: RunningCall;
}

export interface RunningCall {
  readonly callId: string;
  readonly span: SpanContext;
}

/** Carries the run through tools and models that do not know about agents, for their events. Questions go by the call. */
export const runContext = new AsyncLocalStorage<RunContext>();

/**
 * Emits `llm-retry` in the current {@link run}. Call it from `onRetry` of a model client.
 *
 * @example
 * ```ts
 * import { tellRetry } from "keyhole/agent";
 * import { createLLMClient } from "keyhole/models";
 *
 * createLLMClient({
 *   config: { providers: { default: "local", local: { model: "phi4" } } },
 *   callbacks: { onRetry: ({ attempt, delayMs, message }) => tellRetry({ attempt, delayMs, reason: message }) },
 * });
 * ```
 */
export function tellRetry(retry: {
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}): void {
  const { attempt, delayMs, reason } = retry;
  runContext.getStore()?.emit({ type: "llm-retry", attempt, delayMs, reason });
}

/** Emits output of the tool call that a run is in, if it is in one. */
export function tellOutput(text: string, run: RunContext | undefined): void {
  if (run?.call) run.emit({ type: "tool-output", callId: run.call.callId, text }, run.call.span);
}

/** Notes that the tool call that a run is in begins to change something. */
export async function beginCall(): Promise<void> {
  const run = runContext.getStore();
  if (run?.call) await noteProgress(run, run.call.callId, "allowed");
}

export async function noteProgress(
  { progress, keepProgress }: Pick<RunContext, "progress" | "keepProgress">,
  callId: string,
  now: CallProgress,
): Promise<void> {
  const before = progress.get(callId);
  // A call that was allowed once may have changed something, even if it asks again later.
  if (before === now || before === "allowed") return;
  progress.set(callId, now);
  await keepProgress?.(callId, now);
}

/** A question to a person. Show every text whole and unchanged. */
export type AskRequest = Omit<Extract<AgentEvent, { type: "permission-request" }>, "type">;

/** Asks a person. Without it, nobody can be asked, and what needs an answer is refused. */
export type Ask = (request: AskRequest, signal: AbortSignal) => Promise<PermissionAnswer>;

const ANSWERS: readonly unknown[] = ["once", "session", "always", "deny", "nobody"];

/** Asks the person of a run about one of its calls, by events. */
export async function askIn(
  { emit, ask, signal }: RunContext,
  { callId, span }: RunningCall,
  question: ToolQuestion,
): Promise<PermissionAnswer> {
  emit({ type: "permission-request", callId, ...question }, span);
  const asked = ask?.({ callId, span, ...question }, signal) ?? Promise.resolve("nobody" as const);
  const answer = await untilAborted(asked, signal).then(toAnswer, (error: unknown) => {
    emit({ type: "notice", text: `Asking failed, which counts as deny: ${reasonOf(error)}` });
    return "deny" as const;
  });
  const told =
    typeof answer !== "object"
      ? { answer: answer === "nobody" ? ("deny" as const) : answer }
      : "deny" in answer
        ? ({ answer: "deny", instead: answer.deny } as const)
        : ({ answer: "always" } as const);
  emit({ type: "permission-answer", callId, ...told }, span);
  return answer;
}

/** An unknown answer counts as deny. */
function toAnswer(answer: PermissionAnswer): PermissionAnswer {
  if (typeof answer === "object" && answer !== null) {
    if ("deny" in answer && typeof answer.deny === "string") return { deny: answer.deny };
    if ("always" in answer && answer.always.every((rule) => typeof rule === "string")) return answer;
  }
  return ANSWERS.includes(answer) ? answer : "deny";
}

const REASONS: Readonly<Record<ApprovalRequest["why"], string>> = {
  confirmation: "The tool's author wants every call of it confirmed.",
  destroys: "The call destroys something.",
  writes: "The call changes something.",
  steered: "The call changes something, after text of another server tried to steer the model.",
  permission: "The tool asks for permission.",
};

/** Answers the questions about a call, and those that its tool asks, by the person of the run. */
export function approveIn(context: RunContext, call: RunningCall): Approve {
  return async (request) => {
    // Parts of a script may follow others that have run.
    if (!request.inScript && !request.resume) await noteProgress(context, call.callId, "waits");
    const answer = await askIn(context, call, request.asks ?? callQuestion(request));
    if (answer === "nobody") return false;
    if (answer === "deny") return "declined";
    if (typeof answer !== "object" || !("deny" in answer))
      await noteProgress(context, call.callId, "allowed");
    if (typeof answer !== "object") return { by: "person", ...(answer !== "once" && { lasts: answer }) };
    return "deny" in answer
      ? { declined: answer.deny }
      : { by: "person", lasts: "always", rules: answer.always };
  };
}

/** The question about a call itself, with the rules that `always` keeps. */
export function callQuestion(
  { op, args, why }: ApprovalRequest,
  { always, keptIn }: Pick<ToolQuestion, "always" | "keptIn"> = { always: [] },
): ToolQuestion {
  const action = showExactly(`${op} ${JSON.stringify(args)}`);
  return { scope: "tool", action, reason: REASONS[why], always, ...(keptIn !== undefined && { keptIn }) };
}

/** A queue from many writers to one reader, in order and without loss. */
export class EventQueue<T> {
  readonly #waiting: T[] = [];
  #bell = Promise.withResolvers<void>();
  #closed = false;

  readonly push = (value: T): void => {
    if (this.#closed) return;
    this.#waiting.push(value);
    this.#bell.resolve();
  };

  /** Ends the queue after the values that it holds. */
  readonly close = (): void => {
    this.#closed = true;
    this.#bell.resolve();
  };

  async *values(): AsyncGenerator<T, void> {
    while (true) {
      while (this.#waiting.length > 0) yield this.#waiting.shift()!;
      if (this.#closed) return;
      await this.#bell.promise;
      this.#bell = Promise.withResolvers();
    }
  }
}
