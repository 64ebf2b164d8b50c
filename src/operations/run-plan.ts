import { randomBytes } from "node:crypto";
import { type ApprovalRequest, decideCall } from "../calls/decide-call.ts";
import { askFirst } from "../calls/make-call.ts";
import type { ScriptLimits } from "../sandbox/sandbox.ts";
import { Problem, problem } from "../schema/problem.ts";
import { UNAPPROVED_PLAN } from "../schema/script-problems.ts";
import type { Json } from "../util/json.ts";
import { asKnownProblem } from "./error-answer.ts";
import type { OperationContext } from "./operation.ts";
import { type Performance, perform } from "./perform-plan.ts";
import {
  type Effect,
  type Plan,
  type PlanEvent,
  type PlanScript,
  planQuestion,
  readPlan,
  toPlan,
} from "./plan.ts";

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
  /** The script that ran. */
  readonly script?: PlanScript;
  /** The plan for what is left to do. */
  readonly plan?: Plan;
  /** Planned effects that the script has not made. */
  readonly left?: readonly Effect[];
  readonly problem?: Problem;
}

const TIME_MS = 60_000;
const COMPUTE_MS = 10_000;
const STACK_BYTES = 512 * 1024;
const CHARS = 8 * 1024 * 1024;
/** Each round performs at least one more effect, or asks a person. */
const MOST_ROUNDS = 20;

/**
 * Runs a script, or performs a plan. Where effects need a person, the rest of the script runs dry, and one question
 * is asked about all of it; with the approval, the run goes on.
 */
export async function runPlan(request: RunRequest, context: OperationContext): Promise<RunResult> {
  let plan = await openPlan(request, context);
  for (let round = 1; ; round++) {
    const approved = request.dryRun ? plan : await approve(plan, context);
    if ("problem" in approved) return { plan, problem: approved.problem, left: leftOf(plan, []) };
    const performance = await perform(approved, request.dryRun, scriptLimits(request, context), context);
    if (performance.refused) return { performance, problem: performance.refused };
    if (!performance.dry)
      return { performance, script: plan.script, left: leftOf(approved, performance.effects) };
    plan = await savePlan(approved, performance, context);
    if (performance.dry === "requested" || performance.dry === "destructive") return { performance, plan };
    if (!whyAsk(plan, context) || round === MOST_ROUNDS)
      return { performance, plan, problem: differs(performance, plan) };
    const answer = await approve(plan, context);
    if ("problem" in answer) return { performance, plan, problem: answer.problem };
    plan = answer;
  }
}

async function openPlan({ code, params, plan: given }: RunRequest, context: OperationContext): Promise<Plan> {
  const handle = given ?? context.scripts.resume;
  if (handle === undefined) {
    if (code === undefined) throw problem("INVALID_INPUT", { operation: "run", reason: "give code or plan" });
    return toPlan([{ at: "script", script: newScript(code, params) }]);
  }
  const plan = await readPlan(handle, context.view.principal.id, context.scripts.plans);
  if (code !== undefined && code !== plan.script.code)
    throw problem("INVALID_INPUT", {
      operation: "run",
      reason: "the plan belongs to other code: give one of them",
    });
  return plan;
}

/** A script that begins now, with random numbers of its own. */
export function newScript(code: string, params: Json | undefined): PlanScript {
  const seed = new Uint32Array(new Uint8Array(randomBytes(16)).buffer);
  const [a, b, c, d] = seed as unknown as [number, number, number, number];
  return { code, params: params ?? null, now: Date.now(), seed: [a, b, c, d] };
}

/** Asks about the whole plan, if one of its effects needs a person and nobody has approved it yet. */
async function approve(plan: Plan, context: OperationContext): Promise<Plan | { readonly problem: Problem }> {
  const why = plan.approvedBy === undefined ? whyAsk(plan, context) : undefined;
  if (!why) return plan;
  const question = planQuestion(plan, { principal: context.view.principal, why });
  try {
    const by = await askFirst(question, context);
    return await keep(plan, { at: "approved", hash: plan.hash, by }, context);
  } catch (error) {
    const raised = asKnownProblem(error, question.op);
    if (raised.code !== "APPROVAL_REQUIRED") return { problem: raised };
    return { problem: new Problem(raised.code, { name: question.op }, raised.details, UNAPPROVED_PLAN) };
  }
}

/** Why a person has to be asked about the effects that are left; undefined if none needs one. */
function whyAsk(
  { planned = [], begun }: Plan,
  { view, policy }: OperationContext,
): ApprovalRequest["why"] | undefined {
  for (const { op, args } of planned.slice(begun)) {
    const entry = view.find(op);
    const decision = entry && decideCall(entry, view.principal, { args, dryRun: false }, policy);
    if (decision?.do === "ask") return decision.question.why;
  }
  return undefined;
}

/** Planned effects without those that were made. */
function leftOf({ planned = [], begun }: Plan, made: readonly Effect[]): readonly Effect[] {
  const hashes = made.map(({ hash }) => hash);
  return planned.slice(made.length > 0 ? 0 : begun).filter(({ hash }) => {
    const at = hashes.indexOf(hash);
    if (at >= 0) hashes.splice(at, 1);
    return at < 0;
  });
}

async function savePlan(plan: Plan, performance: Performance, context: OperationContext): Promise<Plan> {
  const effects = performance.effects.flatMap(({ state, op, lane, args, hash }): Effect[] =>
    state === "planned" ? [{ op, lane, args, hash }] : [],
  );
  const performed = toPlan(performance.events, plan.handle);
  return keep(performed, { at: "planned", effects }, context);
}

/** Adds an event to a plan, which gets its handle with the first one. */
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

function differs({ effects }: Performance, { handle }: Plan): Problem {
  const name = effects.find(({ state }) => state === "planned")?.op ?? "The next call";
  return problem("PLAN_DIFFERS", { name, plan: handle });
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
