import { type Problem, problem } from "../../base/problems/problem.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { Json } from "../../base/util/json.ts";
import { nearest } from "../../base/util/nearest.ts";
import { type ApprovalRequest, type AskingCall, askerOf, decideCall } from "../calls/decide-call.ts";
import { approvalOf } from "../calls/make-call.ts";
import type { ScriptAnswer, ScriptLimits, ScriptOutcome, StopReason } from "../sandbox/sandbox.ts";
import { type FailedOperation, ROOT, toOperationProblem } from "./error-answer.ts";
import type { OperationContext } from "./operation.ts";
import {
  type Effect,
  type Plan,
  type PlanEvent,
  type PlanScript,
  planQuestion,
  readPlan,
  toPlan,
} from "./plan.ts";
import { removeOne, ScriptCalls } from "./script-calls.ts";

export interface RunRequest {
  readonly code?: string | undefined;
  readonly params?: Json | undefined;
  /** Handle of a plan to perform. */
  readonly plan?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface RunResult {
  /** Absent if a person has to approve the plan before anything runs. */
  readonly performance?: Performance;
  readonly script?: PlanScript;
  /** The plan for the remaining effects. */
  readonly plan?: Plan;
  /** Planned effects that the script did not make. */
  readonly left?: readonly Effect[];
  /** The question about the plan for a person. */
  readonly asks?: ApprovalRequest;
  readonly waitsAs?: AskingCall["waitsAs"];
  readonly problem?: Problem;
}

const TIME_MS = 60_000;
const COMPUTE_MS = 10_000;
const STACK_BYTES = 512 * 1024;
const CHARS = 8 * 1024 * 1024;
/** Each round performs at least one more effect, or asks a person. */
const MOST_ROUNDS = 20;

/**
 * Runs a script, or performs a plan. If effects need a person, the remaining script runs dry, and one question covers
 * all of them. With the approval, the run continues.
 */
export async function runPlan(request: RunRequest, context: OperationContext): Promise<RunResult> {
  let plan = await openPlan(request, context);
  for (let round = 1; ; round++) {
    const approved = request.dryRun ? plan : await approve(plan, context);
    if (!("script" in approved)) return { plan, ...approved, left: remainingEffects(plan, []) };
    const performance = await perform(approved, request.dryRun, scriptLimits(request, context), context);
    const { calls, refused } = performance;
    if (refused) return { performance, problem: refused };
    if (!calls.dry)
      return { performance, script: plan.script, left: remainingEffects(approved, calls.effects) };
    plan = await savePlan(approved, calls, context);
    if (calls.dry === "requested") return { performance, plan };
    if (!firstQuestion(plan, context) || round === MOST_ROUNDS)
      return { performance, plan, problem: differs(calls, plan) };
    const answer = await approve(plan, context);
    if (!("script" in answer)) return { performance, plan, ...answer };
    plan = answer;
  }
}

async function openPlan({ code, params, plan: given }: RunRequest, context: OperationContext): Promise<Plan> {
  const handle = given ?? context.scripts.resume;
  if (handle === undefined) {
    if (code === undefined) throw wrongRun("give code or plan");
    return toPlan([{ at: "script", script: newScript(code, params) }]);
  }
  const plan = await readPlan(handle, context.view.principal.id, context.scripts.plans);
  if (code !== undefined && code !== plan.script.code)
    throw wrongRun("the plan belongs to other code: give one of them");
  return plan;
}

/** A new script with its own random seed. */
export function newScript(code: string, params: Json | undefined): PlanScript {
  const seed = [...crypto.getRandomValues(new Uint32Array(4))] as unknown as PlanScript["seed"];
  return { code, params: params ?? null, now: Date.now(), seed };
}

/** Asks about the whole plan if one of its effects needs approval and the plan has none. */
async function approve(
  plan: Plan,
  context: OperationContext,
): Promise<Plan | AskingCall | { readonly problem: Problem }> {
  const asking = plan.approvedBy === undefined ? firstQuestion(plan, context) : undefined;
  if (!asking) return plan;
  const { why, steeredBy } = asking;
  const question = planQuestion(plan, { ...askerOf(context), why, ...(steeredBy && { steeredBy }) });
  try {
    const approval = await approvalOf(question, context);
    if (!approval) {
      const { waiting, asksLater } = context;
      return { asks: question, waitsAs: asksLater ? undefined : await waiting?.add(question) };
    }
    return await keep(plan, { at: "approved", hash: plan.hash, by: approval.approvedBy }, context);
  } catch (error) {
    return { problem: toOperationProblem(error, question.op) };
  }
}

/** The question about the first remaining effect that needs approval; undefined if none does. */
function firstQuestion(
  { planned = [], begun }: Plan,
  { view, policy }: OperationContext,
): ApprovalRequest | undefined {
  for (const { op, args } of planned.slice(begun)) {
    const entry = view.find(op);
    const decision = entry && decideCall(entry, view.principal, { args, dryRun: false }, policy);
    if (decision?.do === "ask") return decision.question;
  }
  return undefined;
}

/** Planned effects that were not made. */
function remainingEffects({ planned = [], begun }: Plan, made: readonly Effect[]): readonly Effect[] {
  const hashes = made.map(({ hash }) => hash);
  return planned.slice(made.length > 0 ? 0 : begun).filter(({ hash }) => !removeOne(hashes, hash));
}

async function savePlan(plan: Plan, calls: ScriptCalls, context: OperationContext): Promise<Plan> {
  const planned = calls.effects.filter(({ state }) => state === "planned");
  const effects = planned.map(({ op, lane, args, hash }): Effect => ({ op, lane, args, hash }));
  return keep(toPlan(calls.recording.events, plan.handle), { at: "planned", effects }, context);
}

/** Adds an event to a plan. The first event gives it a handle. */
async function keep(
  plan: Plan,
  event: PlanEvent,
  { scripts: { plans }, view }: OperationContext,
): Promise<Plan> {
  const events = [...plan.events, event];
  const id = view.principal.id;
  if (plan.handle === undefined) return toPlan(events, await plans.open(id, events as unknown as Json[]));
  await plans.append(plan.handle, id, plan.events.length, event as unknown as Json);
  return toPlan(events, plan.handle);
}

function differs({ effects }: ScriptCalls, { handle }: Plan): Problem {
  const name = effects.find(({ state }) => state === "planned")?.op ?? "The next call";
  return problem("PLAN_DIFFERS", { name, plan: handle ?? "" });
}

export function scriptLimits(
  { timeoutMs = TIME_MS }: Pick<RunRequest, "timeoutMs">,
  { limits }: Pick<OperationContext, "limits">,
): ScriptLimits {
  const timeMs = Math.min(timeoutMs, limits.scriptMs);
  return {
    timeMs,
    computeMs: Math.min(COMPUTE_MS, timeMs),
    memoryBytes: limits.scriptBytes,
    stackBytes: STACK_BYTES,
    requests: limits.scriptCalls,
    chars: CHARS,
  };
}

/** One run of a script: its end, its calls, and the effects that it made or would make. */
export interface Performance {
  readonly outcome: ScriptOutcome;
  readonly calls: ScriptCalls;
  /** The run was abandoned: its calls differ from the earlier run, or another run performs the plan. */
  readonly refused?: Problem | undefined;
}

/**
 * Runs the script of a plan once. The plan answers calls that an earlier run finished. Effects run until one is not
 * allowed; later effects run dry, so that the remaining script shows what would follow.
 */
export async function perform(
  plan: Plan,
  dryRun: boolean | undefined,
  limits: ScriptLimits,
  outer: OperationContext,
): Promise<Performance> {
  const stop = new AbortController();
  const { signal } = stop;
  // AbortSignal.any would make every call of the script slower.
  const cancel = () => stop.abort(outer.request.signal.reason);
  if (outer.request.signal.aborted) cancel();
  else outer.request.signal.addEventListener("abort", cancel, { once: true });
  const request = { ...withListener(outer.request), signal };
  // The person is asked about the plan, not during the script.
  const context: OperationContext = { ...outer, asksLater: false, waiting: undefined, request };
  const calls = new ScriptCalls(plan, dryRun, context);
  const running = new Set<Promise<void>>();
  let refused: Problem | undefined;

  function giveUp(error: unknown): void {
    refused ??= toOperationProblem(error, "run");
    stop.abort(refused);
  }

  const host = {
    request: (request: unknown, number: number, answer: (answer: ScriptAnswer) => void) => {
      const served = calls.serve(request, number, answer).catch(giveUp);
      running.add(served);
      void served.finally(() => running.delete(served));
    },
  };
  const { code, params, now, seed } = plan.script;
  const script = { code, now, seed, params: JSON.stringify(params), limits };
  const outcome = await outer.scripts.sandbox
    .run(script, host, { signal, owner: outer.view.principal.id })
    .finally(() => outer.request.signal.removeEventListener("abort", cancel));
  if (!calls.recording.isReplayed && outcome.end.end !== "stopped")
    giveUp(problem("PLAN_CHANGED", { number: calls.requests + 1 }));
  stop.abort();
  await Promise.allSettled(running);
  return { outcome, calls, refused };
}

/**
 * The client for calls inside a script: progress, logs, roots and answers to questions during the script. An answer in
 * a later request belongs to the script's own call. The progress of all calls is counted together, because it must
 * grow.
 */
function withListener({ client, ...request }: OperationContext["request"]): OperationContext["request"] {
  if (!client) return request;
  const { log, logLevel, connection, folder, roots, request: ask } = client;
  const passed = { log, logLevel, connection, folder, roots, request: ask };
  let steps = 0;
  const progress: typeof client.progress = ({ message }) => {
    steps += 1;
    client.progress({ progress: steps, ...(message !== undefined && { message }) });
  };
  const capabilities = ask ? client.capabilities : {};
  return { ...request, client: { ...passed, progress, capabilities, responses: {} } };
}

const REASON_CHARS = 1_000;
const SHOWN_FIELDS = 12;

const DO_LESS = "Make it do less at once.";
const STOPS = {
  time: { reason: "its time was over", advice: DO_LESS },
  compute: { reason: "it computed for too long", advice: DO_LESS },
  memory: { reason: "it used too much memory", advice: DO_LESS },
  stuck: {
    reason: "it waited for something that never comes",
    advice: "A script can wait only for tools, call, get, ask, help and sleep.",
  },
  crashed: { reason: "its engine failed", advice: DO_LESS },
} satisfies Record<Exclude<StopReason, "cancelled">, object>;

/** The failure of a script that did not return. If it did not catch the problem of a call, that problem. */
export function scriptFailure({
  outcome: { end, misses },
  calls: { failures },
}: Performance): FailedOperation | undefined {
  if (end.end === "returned") return undefined;
  if (end.end === "stopped") {
    const { why } = end;
    if (why === "cancelled") return inScript(problem("CANCELLED", { name: "The script" }));
    return inScript(problem("SCRIPT_STOPPED", STOPS[why]));
  }
  const { name, message, line, problem: given } = end.error;
  const uncaught = given === undefined ? undefined : failures.get(given);
  if (uncaught) return uncaught;
  const where = line === undefined ? "" : ` near line ${line}`;
  const said = `${name}: ${message}`;
  // A missing field reads as undefined and fails only where it is used.
  const hint = name === "TypeError" ? missText(misses.at(-1)) : "";
  const reason = cutText(`${/[.!?]$/.test(said) ? said : `${said}.`}${hint}`, REASON_CHARS);
  return inScript(problem("SCRIPT_FAILED", { where, reason }));
}

export function wrongRun(reason: string): Problem {
  return problem("INVALID_INPUT", { operation: "run", reason });
}

function inScript(failed: Problem): FailedOperation {
  return { problem: failed, helpPath: ROOT };
}

/** Says that a result lacks this field, and which fields it has. */
export function missText(miss: ScriptOutcome["misses"][number] | undefined): string {
  if (!miss) return "";
  const { field, fields, label } = miss;
  const [near] = nearest(field, fields, 1);
  const meant = near === undefined ? "" : ` Did you mean ${near}?`;
  const shown = fields.slice(0, SHOWN_FIELDS).join(", ") + (fields.length > SHOWN_FIELDS ? ", …" : "");
  return ` The result of ${label} has no field ${cutText(field, 80)}.${meant} Its fields: ${shown}.`;
}
