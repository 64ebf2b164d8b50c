import { setTimeout } from "node:timers/promises";
import type { Approve } from "../calls/call-environment.ts";
import { callHash } from "../calls/decide-call.ts";
import { type Addressed, findAddressed } from "../calls/find-addressed.ts";
import { toPage } from "../render/page.ts";
import type { ScriptAnswer, ScriptLimits, ScriptOutcome } from "../sandbox/sandbox.ts";
import type { Entry } from "../schema/entry.ts";
import { type Problem, problem } from "../schema/problem.ts";
import { needsAll, needsEntry, seesStill } from "../session/needs.ts";
import type { Json } from "../util/json.ts";
import { createSlots } from "../util/slots.ts";
import { askInside, helpInside } from "./ask-inside.ts";
import { type CallOutcome, callAddress } from "./call-address.ts";
import { asKnownProblem, type Failure, ROOT } from "./error-answer.ts";
import type { OperationContext } from "./operation.ts";
import type { Effect, Ended, Plan, PlanEvent } from "./plan.ts";
import { createRecording } from "./plan-recording.ts";
import { createReplay } from "./plan-replay.ts";
import { type Request, readRequest, requestKey } from "./script-requests.ts";

/** Why effects run dry from some point of a script on. */
export type DryReason = "requested" | "destructive" | "approval" | "differs";

/** An effect with what became of it. */
export interface PerformedEffect extends Effect {
  readonly number: number;
  /** `unknown`: it was begun by a run that ended before it was finished. */
  readonly state: "done" | "failed" | "unknown" | "planned";
  /** The result, the result of the dry run, or the problem. */
  readonly value: Json;
}

/** An answer to the script, and the others who wrote it. */
type Answer = ScriptAnswer & { readonly source?: string };

/** One run of a script: how it ended, and what it changed or would change. */
export interface Performance {
  readonly outcome: ScriptOutcome;
  /** In the order in which the script made them. */
  readonly effects: readonly PerformedEffect[];
  readonly dry?: DryReason;
  readonly events: readonly PlanEvent[];
  readonly requests: number;
  /** The entries that the script called. */
  readonly called: readonly Entry[];
  /** The others who wrote results that the script read. */
  readonly sources: readonly string[];
  /** The failed calls by the JSON that the script got of them. */
  readonly failures: ReadonlyMap<string, Failure>;
  /** The run was given up: it made other calls than before, or another run performs the plan. */
  readonly refused?: Problem;
}

/**
 * Runs the script of a plan once. Calls that an earlier run has finished are answered from the plan. Effects run
 * until one is not allowed to; from there on they run dry, so that the rest of the script shows what would follow.
 */
export async function perform(
  plan: Plan,
  dryRun: boolean | undefined,
  limits: ScriptLimits,
  outer: OperationContext,
): Promise<Performance> {
  const { principal } = outer.view;
  const stop = new AbortController();
  const { signal } = stop;
  // A signal made by AbortSignal.any would cost every call of the script more.
  const cancel = () => stop.abort(outer.request.signal.reason);
  if (outer.request.signal.aborted) cancel();
  else outer.request.signal.addEventListener("abort", cancel, { once: true });
  const context: OperationContext = { ...outer, request: { ...withListener(outer.request), signal } };
  const reading: OperationContext = { ...context, policy: { ...context.policy, reach: "read" } };
  const recording = createRecording(plan, outer.scripts.plans, principal.id);
  const replay = createReplay(recording.earlier);
  const inSlot = createSlots(outer.limits.concurrency);
  const running = new Set<Promise<void>>();
  const effects = new Map<number, PerformedEffect>();
  const failures = new Map<string, Failure>();
  const sources = new Set<string>();
  const called = new Set<Entry>();
  /** Effects of which nobody knows whether they took place. The script may make them again after looking. */
  const doubtful: string[] = [];
  let expected = plan.begun;
  let dry: DryReason | undefined = dryRun ? "requested" : undefined;
  let requests = 0;
  let refused: Problem | undefined;

  async function serve(
    given: unknown,
    number: number,
    answer: (answer: ScriptAnswer) => void,
  ): Promise<void> {
    requests = Math.max(requests, number);
    const request = readSafely(given);
    if ("failure" in request) return answer(fail(request.failure));
    const addressed = "address" in request ? findAddressed(request.address, context.view.find) : undefined;
    if (addressed) called.add(addressed.entry);
    const key = requestKey(request);
    const known = recording.known(number);
    if (known && known.key !== key) throw problem("PLAN_CHANGED", { number });
    const ended = known?.ended ? recording.earlier.find((one) => one.number === number) : undefined;
    if (ended) {
      // Answers that the caller may no longer see close the plan as if it did not exist.
      if (!ended.needs || !seesStill(context.view, ended.needs))
        throw problem("UNKNOWN_HANDLE", { handle: plan.handle });
      if (ended.effect) noteEarlier(ended, ended.effect);
      if (ended.source !== undefined) sources.add(ended.source);
      replay.offer(number, () => answer(ended));
      return;
    }
    const made = await inSlot(() => make(request, addressed, number, key, known?.effect !== undefined));
    await replay.over;
    answer(made);
  }

  async function make(
    request: Request,
    addressed: Addressed | undefined,
    number: number,
    key: string,
    inDoubt: boolean,
  ): Promise<Answer> {
    if (addressed && "address" in request) {
      const { entry, params } = addressed;
      const isRefused = request.kind === "get" && entry.lane !== "read";
      // An effect is shown and approved with all its arguments, also those in its address.
      if (isEffect(entry) && !isRefused)
        return makeEffect(entry, { ...params, ...request.args }, number, key, inDoubt);
    }
    const made = await makeRead(request);
    // Once effects run dry, reads may see what the dry runs made up: they are made again with the real effects.
    const needs = addressed ? needsEntry(addressed.entry) : needsAll(principal, []);
    if (!dry) await recording.add({ at: "ended", number, key, needs, ...kept(made) });
    return made;
  }

  async function makeRead(request: Request): Promise<Answer> {
    try {
      if (request.kind === "ask") return { ok: true, value: await askInside(request.query, context) };
      if (request.kind === "help") return { ok: true, value: await helpInside(request.path ?? "", context) };
      if (request.kind === "sleep")
        return { ok: true, value: await setTimeout(request.ms, null, { signal }) };
      return toAnswer(await callAddress(request.address, { args: request.args ?? {} }, reading));
    } catch (error) {
      return fail({ problem: asKnownProblem(error, request.kind), helpPath: ROOT });
    }
  }

  async function makeEffect(
    entry: Entry,
    args: Record<string, unknown>,
    number: number,
    key: string,
    inDoubt: boolean,
  ): Promise<Answer> {
    const effect = toEffect(entry, args);
    const needs = needsEntry(entry);
    if (inDoubt && !isRepeatable(entry)) {
      const unknown = fail({ problem: problem("EFFECT_UNKNOWN", { name: entry.op }), helpPath: entry.op });
      await recording.add({ at: "ended", number, key, needs, effect, ...kept(unknown), unknown: true });
      note(effect, number, "unknown", unknown.value as Json);
      doubtful.push(effect.hash);
      return unknown;
    }
    const again = inDoubt || takeOut(doubtful, effect.hash);
    const isPlanned = again || plan.planned?.[expected]?.hash === effect.hash;
    if (!dry && plan.planned && !isPlanned) dry = "differs";
    if (!dry && !plan.planned && entry.lane === "destructive" && dryRun !== false) dry = "destructive";
    if (!dry) {
      if (plan.planned && !again) expected += 1;
      if (!inDoubt) await recording.add({ at: "began", number, key, effect, ...(again && { again }) });
      const ask: Approve = (question) => context.approve({ ...question, inScript: true });
      const { approvedBy } = plan;
      const approve = approvedBy === undefined ? ask : () => ({ by: approvedBy });
      const made = await callAddress(entry.op, { args, dryRun: false }, { ...context, approve });
      const isAsked = !made.ok && made.failure.problem.code === "APPROVAL_REQUIRED";
      if (!isAsked) {
        const answer = toAnswer(made);
        await recording.add({
          at: "ended",
          number,
          key,
          needs,
          effect,
          ...kept(answer),
          ...(again && { again }),
        });
        note(effect, number, made.ok ? "done" : "failed", answer.value as Json);
        return answer;
      }
      await recording.add({ at: "withdrawn", number });
      dry = "approval";
      note(effect, number, "planned", null);
    }
    const shown = toAnswer(await callAddress(entry.op, { args, dryRun: true }, context));
    if (shown.ok) note(effect, number, "planned", shown.value as Json);
    return shown;
  }

  function toAnswer(made: CallOutcome): Answer {
    if (!made.ok) return fail(made.failure);
    const { entry, source, reading } = made;
    const value = reading ? toPage(made.value, Number.POSITIVE_INFINITY, reading.how).content : made.value;
    if (source !== undefined) sources.add(source);
    return { ok: true, value, ...(entry && { label: entry.op }), ...(source && { source }) };
  }

  function fail(failure: Failure): Answer {
    const { code, message, next, details } = failure.problem;
    const value = { code, message, next, details };
    failures.set(JSON.stringify(value), failure);
    return { ok: false, value };
  }

  function note(effect: Effect, number: number, state: PerformedEffect["state"], value: Json): void {
    effects.set(number, { ...effect, number, state, value });
  }

  function noteEarlier({ number, ok, value, again, unknown }: Ended, effect: Effect): void {
    note(effect, number, unknown ? "unknown" : ok ? "done" : "failed", value);
    if (unknown) doubtful.push(effect.hash);
    if (again) takeOut(doubtful, effect.hash);
  }

  function giveUp(error: unknown): void {
    refused ??= asKnownProblem(error, "run");
    stop.abort(refused);
  }

  const { code, params, now, seed } = plan.script;
  const script = { code, now, seed, params: JSON.stringify(params), limits };
  const host = {
    request: (request: unknown, number: number, answer: (answer: ScriptAnswer) => void) => {
      const served = serve(request, number, answer).catch(giveUp);
      running.add(served);
      void served.finally(() => running.delete(served));
    },
  };
  const outcome = await outer.scripts.sandbox
    .run(script, host, { signal, owner: principal.id })
    .finally(() => outer.request.signal.removeEventListener("abort", cancel));
  if (!replay.isOver && outcome.end.end !== "stopped")
    giveUp(problem("PLAN_CHANGED", { number: requests + 1 }));
  stop.abort();
  await Promise.allSettled(running);
  return {
    outcome,
    effects: [...effects.values()].sort((one, other) => one.number - other.number),
    ...(dry && { dry }),
    events: recording.events,
    requests,
    called: [...called],
    failures,
    sources: [...sources],
    ...(refused && { refused }),
  };
}

function readSafely(given: unknown): Request | { readonly failure: Failure } {
  try {
    return readRequest(given);
  } catch (error) {
    return { failure: { problem: asKnownProblem(error, "run"), helpPath: ROOT } };
  }
}

/** Removes one of several equal items. */
function takeOut(items: string[], item: string): boolean {
  const at = items.indexOf(item);
  if (at >= 0) items.splice(at, 1);
  return at >= 0;
}

function kept({ ok, value, label, source }: Answer): Pick<Ended, "ok" | "value" | "label" | "source"> {
  return { ok, value: value as Json, ...(label !== undefined && { label }), ...(source && { source }) };
}

function toEffect(entry: Entry, args: Record<string, unknown>): Effect {
  return { op: entry.op, lane: entry.lane, args: args as Effect["args"], hash: callHash(entry, args) };
}

/** Whether a call is listed and approved as one that changes something. */
function isEffect(entry: Entry): boolean {
  return entry.kind === "tool" && (entry.lane !== "read" || entry.requiresConfirmation);
}

/** Whether running it twice does the same as running it once. */
function isRepeatable({ presentation }: Entry): boolean {
  return presentation?.annotations?.idempotentHint === true;
}

/**
 * A call inside a script tells the client its progress and logs. It cannot ask, because the client's answers belong
 * to the script's own call. The steps of all calls are counted together, because progress has to grow.
 */
function withListener({ client, ...request }: OperationContext["request"]): OperationContext["request"] {
  if (!client) return request;
  const { log, logLevel } = client;
  let steps = 0;
  const progress: typeof client.progress = ({ message }) => {
    steps += 1;
    client.progress({ progress: steps, ...(message !== undefined && { message }) });
  };
  return { ...request, client: { progress, log, logLevel, capabilities: {}, responses: {} } };
}
