import { AsyncLocalStorage } from "node:async_hooks";
import { reasonOf } from "../../base/util/reason-of.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import type { PermissionAnswer, PermissionQuestion } from "../permissions/permissions.ts";
import type { AgentEvent, SpanContext } from "./agent-event.ts";

export type Untraced = AgentEvent extends infer E ? (E extends AgentEvent ? Omit<E, "span"> : never) : never;

/** The current run, and its current tool call if there is one. */
export interface RunContext {
  emit(event: Untraced, span?: SpanContext): void;
  readonly ask?: Ask;
  readonly signal: AbortSignal;
  readonly call?: { readonly callId: string; readonly span: SpanContext };
}

/** Carries the run through tools and models that do not know about agents. */
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

/** A question to a person. Show every text whole and unchanged. */
export type AskRequest = Omit<Extract<AgentEvent, { type: "permission-request" }>, "type">;

/** Asks a person. Without it, every question is answered with deny. */
export type Ask = (request: AskRequest, signal: AbortSignal) => Promise<PermissionAnswer>;

const ANSWERS: readonly unknown[] = ["once", "session", "always", "deny"];

/** Asks through the events of the current run. Outside of a tool call the answer is deny. */
export async function askInRun(question: Omit<AskRequest, "span" | "callId">): Promise<PermissionAnswer> {
  const context = runContext.getStore();
  if (!context?.call) return "deny";
  const { emit, ask, signal, call } = context;
  emit({ type: "permission-request", callId: call.callId, ...question }, call.span);
  const answer = ask ? await answerOf(ask({ ...call, ...question }, signal), signal) : "deny";
  const said = typeof answer === "string" ? { answer } : { answer: "deny" as const, instead: answer.deny };
  emit({ type: "permission-answer", callId: call.callId, ...said }, call.span);
  return answer;
}

/**
 * Turns questions of workspace tools into events of the current run, as `ask` of {@link createPermissions}. The
 * agent's own `ask` answers them. Outside of a run the answer is deny.
 *
 * @example
 * ```ts
 * import { askPermission, createPermissions } from "keyhole/agent";
 *
 * const permissions = createPermissions({ root: process.cwd(), ask: askPermission });
 * const { allowed } = await permissions.command("make");
 * console.assert(!allowed);
 * ```
 */
export async function askPermission(question: PermissionQuestion): Promise<PermissionAnswer> {
  const { action, resource, given, folder, ...more } = question;
  const spelled = given === undefined ? "" : ` (given as ${given})`;
  const place = folder === undefined ? "" : `\nin the folder: ${folder}`;
  return askInRun({ ...more, action: `${action}: ${resource}${spelled}${place}` });
}

/** An error or an unknown answer counts as deny. */
async function answerOf(asked: Promise<PermissionAnswer>, signal: AbortSignal): Promise<PermissionAnswer> {
  try {
    const answer = await untilAborted(asked, signal);
    if (typeof answer === "object" && typeof answer?.deny === "string") return { deny: answer.deny };
    return ANSWERS.includes(answer) ? answer : "deny";
  } catch (error) {
    runContext
      .getStore()
      ?.emit({ type: "notice", text: `Asking failed, which counts as deny: ${reasonOf(error)}` });
    return "deny";
  }
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
