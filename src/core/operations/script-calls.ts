import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import type { Json } from "../../base/util/json.ts";
import { lazy } from "../../base/util/lazy.ts";
import { toJson } from "../../base/util/to-json.ts";
import { type Addressed, resolveAddress } from "../access/view.ts";
import { toPage } from "../answers/page.ts";
import type { Approve } from "../calls/call-environment.ts";
import { type CallPolicy, callHash, whyAsk } from "../calls/decide-call.ts";
import type { Entry } from "../nouns/entry.ts";
import { readInput, reasonsOf } from "../nouns/json-form.ts";
import type { ScriptAnswer } from "../sandbox/sandbox.ts";
import { mayStillRead, needsAll, needsEntry } from "../sessions/read-conditions.ts";
import { keeperOf } from "../storage/result-keeper.ts";
import type { AnswerLimits } from "./answer-parts.ts";
import { ask } from "./ask.ts";
import { type CallOutcome, callAddress, failureOf } from "./call-address.ts";
import { detailsJson, type FailedOperation, ROOT, toOperationProblem } from "./error-answer.ts";
import { help } from "./help.ts";
import type { Operation, OperationContext } from "./operation.ts";
import { type Effect, type Ended, type Plan, Recording } from "./plan.ts";

/** Why effects run dry from some point of a script on. */
export type DryReason = "requested" | "approval" | "differs";

export interface PerformedEffect extends Effect {
  readonly number: number;
  /** `unknown`: an earlier run began it and ended before it was finished. */
  readonly state: "done" | "failed" | "unknown" | "planned";
  /** The result, the result of the dry run, or the problem. */
  readonly value: Json;
}

/** An answer to the script, with the server that produced it (untrusted text). */
type CallAnswer = ScriptAnswer & Pick<Ended, "value" | "source">;

/** A call of the script that changes something. */
interface EffectCall {
  readonly entry: Entry;
  readonly effect: Effect;
  readonly number: number;
  /** Hash of the exact request. */
  readonly key: string;
  /** An earlier run began it and ended before it recorded the outcome. */
  readonly inDoubt: boolean;
}

/** The calls of a running script: answered from its plan, made, or run dry, and recorded. */
export class ScriptCalls {
  /** Failed calls, by the JSON that the script received. */
  readonly failures: Map<string, FailedOperation> = new Map();
  /** Servers whose results the script read (untrusted text). */
  readonly sources: Set<string> = new Set();
  /** The entries that the script called. */
  readonly called: Set<Entry> = new Set();
  readonly recording: Recording;
  /** Why effects now run dry. */
  dry: DryReason | undefined;
  requests = 0;
  readonly #effects: Map<number, PerformedEffect> = new Map();
  readonly #plan: Plan;
  readonly #context: OperationContext;
  readonly #reading: OperationContext;
  readonly #inSlot: ReturnType<typeof createLimiter>;
  /** Hashes of effects with an unknown outcome. The script may repeat them after a check. */
  readonly #doubtful: string[] = [];
  /** Position of the next effect in the plan. */
  #expected: number;

  constructor(plan: Plan, dryRun: boolean | undefined, context: OperationContext) {
    this.#plan = plan;
    this.#context = context;
    this.#reading = { ...context, policy: { ...context.policy, reach: "read" } };
    this.#inSlot = createLimiter(context.limits.concurrency);
    this.#expected = plan.begun;
    this.recording = new Recording(plan, context.scripts.plans, context.view.principal.id);
    this.dry = dryRun ? "requested" : undefined;
  }

  /** In the order in which the script made them. */
  get effects(): PerformedEffect[] {
    return [...this.#effects.values()].sort((one, other) => one.number - other.number);
  }

  /** @throws PLAN_CHANGED or UNKNOWN_HANDLE if the script cannot continue. */
  async serve(raw: unknown, number: number, answer: (answer: ScriptAnswer) => void): Promise<void> {
    this.requests = Math.max(this.requests, number);
    const request = readRequest(raw);
    if (isProblem(request)) return answer(this.#fail({ problem: request, helpPath: ROOT }));
    const { view } = this.#context;
    const addressed = "address" in request ? resolveAddress(request.address, view.find) : undefined;
    if (addressed) this.called.add(addressed.entry);
    const key = contentHash(request);
    const earlier = this.recording.earlier.get(number);
    if (earlier && earlier.key !== key) throw problem("PLAN_CHANGED", { number });
    if (earlier?.at === "ended") {
      this.#recall(earlier);
      this.recording.replay(number, () => answer(earlier));
      return;
    }
    const call = { number, key, inDoubt: earlier !== undefined };
    const result = await this.#inSlot(() => this.#make(request, addressed, call));
    await this.recording.replayed;
    answer(result);
  }

  /** Records a call that an earlier run finished. */
  #recall({ number, ok, value, needs, source, effect, again, unknown }: Ended): void {
    // If the caller may no longer see an answer, the plan counts as unknown.
    if (!mayStillRead(this.#context.view, needs))
      throw problem("UNKNOWN_HANDLE", { handle: this.#plan.handle ?? "of this plan" });
    if (source !== undefined) this.sources.add(source);
    if (!effect) return;
    this.#note(effect, number, unknown ? "unknown" : ok ? "done" : "failed", value);
    if (unknown) this.#doubtful.push(effect.hash);
    if (again) removeOne(this.#doubtful, effect.hash);
  }

  async #make(
    request: Request,
    addressed: Addressed | undefined,
    call: Pick<EffectCall, "number" | "key" | "inDoubt">,
  ): Promise<CallAnswer> {
    if (addressed && "address" in request) {
      const { entry, params } = addressed;
      const isRefused = request.kind === "get" && entry.lane !== "read";
      // An effect is shown and approved with all arguments, including those in its address.
      if (isEffect(entry, this.#context.policy) && !isRefused) {
        const args = { ...params, ...request.args } as Effect["args"];
        const effect = { op: entry.op, lane: entry.lane, args, hash: callHash(entry, args) };
        return this.#makeEffect({ ...call, entry, effect });
      }
    }
    const readAnswer = await this.#makeRead(request);
    const needs = addressed ? needsEntry(addressed.entry) : needsAll(this.#context.view.principal, []);
    // After effects run dry, reads may see invented values. They are repeated with the real effects.
    const { number, key } = call;
    if (!this.dry) await this.recording.add({ at: "ended", number, key, needs, ...readAnswer });
    return readAnswer;
  }

  async #makeRead(request: Request): Promise<CallAnswer> {
    const context = this.#context;
    try {
      if (request.kind === "ask")
        return { ok: true, value: await runInside(ask, { query: request.query }, context) };
      if (request.kind === "help")
        return { ok: true, value: await runInside(help, { path: request.path ?? "" }, context) };
      if (request.kind === "sleep")
        return { ok: true, value: await setTimeout(request.ms, null, { signal: context.request.signal }) };
      const { address, args } = request;
      return this.#toAnswer(await callAddress(address, { args: args ?? {} }, this.#reading));
    } catch (error) {
      return this.#fail({ problem: toOperationProblem(error, request.kind), helpPath: ROOT });
    }
  }

  async #makeEffect(call: EffectCall): Promise<CallAnswer> {
    const { entry, effect, number, inDoubt } = call;
    if (inDoubt && !isRepeatable(entry)) return this.#leaveUnknown(call);
    const again = inDoubt || removeOne(this.#doubtful, effect.hash);
    if (!again && this.#differs(effect)) this.dry ??= "differs";
    const performed = this.dry ? undefined : await this.#performEffect(call, again);
    if (performed) return performed;
    const dryRun = { args: effect.args, dryRun: true };
    const shown = this.#toAnswer(await callAddress(entry.op, dryRun, this.#context));
    if (shown.ok) this.#note(effect, number, "planned", shown.value);
    return shown;
  }

  /** Fails the call with EFFECT_UNKNOWN: the script has to check whether the effect happened. */
  async #leaveUnknown({ entry, effect, number, key }: EffectCall): Promise<CallAnswer> {
    const failure = { problem: problem("EFFECT_UNKNOWN", { name: entry.op }), helpPath: entry.op };
    const unknown = this.#fail(failure);
    const ended = { number, key, needs: needsEntry(entry), effect, ...unknown };
    await this.recording.add({ at: "ended", ...ended, unknown: true });
    this.#note(effect, number, "unknown", unknown.value);
    this.#doubtful.push(effect.hash);
    return unknown;
  }

  /** Whether the effect is not the next one of the plan. */
  #differs({ hash }: Effect): boolean {
    const { planned } = this.#plan;
    return planned !== undefined && planned[this.#expected]?.hash !== hash;
  }

  /** Performs an effect. Undefined if a person has to approve it first: later effects then run dry. */
  async #performEffect(
    { entry, effect, number, key, inDoubt }: EffectCall,
    again: boolean,
  ): Promise<CallAnswer | undefined> {
    if (this.#plan.planned && !again) this.#expected += 1;
    if (!inDoubt) await this.recording.add({ at: "began", number, key, effect, ...(again && { again }) });
    const context = { ...this.#context, approve: this.#approval() };
    const outcome = await callAddress(entry.op, { args: effect.args, dryRun: false }, context);
    if (outcome.is === "asks") {
      await this.recording.add({ at: "withdrawn", number });
      this.dry = "approval";
      this.#note(effect, number, "planned", null);
      return undefined;
    }
    const answer = this.#toAnswer(outcome);
    const ended = { number, key, needs: needsEntry(entry), effect, ...answer };
    await this.recording.add({ at: "ended", ...ended, ...(again && { again }) });
    this.#note(effect, number, outcome.is, answer.value);
    return answer;
  }

  /** An approved plan covers its effects, but no questions of running tools. Otherwise each effect is asked about. */
  #approval(): Approve {
    const { approvedBy: by } = this.#plan;
    return (question) =>
      by === undefined || question.asks ? this.#context.approve({ ...question, inScript: true }) : { by };
  }

  #toAnswer(callOutcome: CallOutcome): CallAnswer {
    if (callOutcome.is !== "done") return this.#fail(failureOf(callOutcome));
    const { entry, source, reading } = callOutcome;
    const value = reading
      ? toPage(callOutcome.value, Number.POSITIVE_INFINITY, reading.how).content
      : callOutcome.value;
    if (source !== undefined) this.sources.add(source);
    return { ok: true, value, ...(entry && { label: entry.op }), ...(source && { source }) };
  }

  #fail(failure: FailedOperation): CallAnswer {
    const { code, message, next, details } = failure.problem;
    const value = { code, message, next, details: detailsJson(details) } as Json;
    this.failures.set(JSON.stringify(value), failure);
    return { ok: false, value };
  }

  #note(effect: Effect, number: number, state: PerformedEffect["state"], value: Json): void {
    this.#effects.set(number, { ...effect, number, state, value });
  }
}

/** Removes one of several equal items. Returns whether it existed. */
export function removeOne(items: string[], item: string): boolean {
  const at = items.indexOf(item);
  if (at >= 0) items.splice(at, 1);
  return at >= 0;
}

/** Whether a call is listed and approved as an effect. */
function isEffect(entry: Entry, policy: CallPolicy): boolean {
  if (entry.kind !== "tool") return false;
  return entry.lane !== "read" || entry.requiresConfirmation || whyAsk(entry, policy) !== undefined;
}

/** Whether two runs have the same effect as one. */
function isRepeatable({ presentation }: Entry): boolean {
  return presentation?.annotations?.idempotentHint === true;
}

/** Names of the functions in a script. */
const WORDS = { ask: "ask", help: "help", get: "get", exec: "call", run: "run", params: "args" } as const;

/** Runs `ask` or `help` for a script. The answer has the fields of the operation. */
async function runInside<I extends z.ZodType, Outcome, O extends z.ZodType>(
  operation: Operation<I, Outcome, O>,
  given: object,
  context: OperationContext,
): Promise<Json> {
  const { input } = readInput(operation, given);
  return operation.show(await operation.run(input, context), roomInside(context)) as unknown as Json;
}

/** Scripts get whole answers, because scripts need no tokens. */
function roomInside({ countTokens, limits, results, view }: OperationContext): AnswerLimits {
  const whole = Number.POSITIVE_INFINITY;
  return {
    words: WORDS,
    countTokens,
    askTokens: limits.resultTokens,
    tokensLeft: whole,
    resultTokens: whole,
    lookTokens: whole,
    helpTokens: whole,
    answerBytes: whole,
    keep: (value, _name, origin) => {
      const { handle, stored } = keeperOf(results).keep(value, view.principal, origin);
      // A handle that could not be stored is unknown when it is read.
      stored.catch(() => {});
      return handle;
    },
  };
}

/** Runs at most `most` tasks at the same time. Further tasks start in order. */
function createLimiter(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

const requestSchema = lazy(() => {
  const address = z.string().min(1).max(2_000);
  const args = z.record(z.string(), z.unknown()).nullish();
  return z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("call"), address, args }),
    z.object({ kind: z.literal("get"), address, args }),
    z.object({ kind: z.literal("ask"), query: z.string().min(1).max(2_000) }),
    z.object({ kind: z.literal("help"), path: z.string().max(600).optional() }),
    z.object({ kind: z.literal("sleep"), ms: z.number().min(0).max(600_000) }),
  ]);
});

/** A request of a script to its host. */
type Request = z.output<ReturnType<typeof requestSchema>>;

/** Reads a request as the script sent it. */
function readRequest(sent: unknown): Request | Problem {
  const json = toJson(sent);
  const read = requestSchema().safeParse(json.ok ? json.value : undefined);
  if (read.success) return read.data;
  const reason = json.ok ? reasonsOf(read.error) : json.reason;
  return problem("INVALID_INPUT", { operation: "the call in the script", reason });
}
