import { z } from "zod";
import { customProblem, problem } from "../../base/problems/problem.ts";
import { findInjection } from "../../base/safety/detect-injection.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import type { Json } from "../../base/util/json.ts";
import { toJson } from "../../base/util/to-json.ts";
import type { ScriptValue } from "../calls/call-environment.ts";
import { askerOf, whyAsk } from "../calls/decide-call.ts";
import { approvalOf } from "../calls/make-call.ts";
import { type BoundScript, DOES, LANES, type ScriptBounds } from "../nouns/entry.ts";
import {
  paramsOf,
  RECIPES,
  type Recipe,
  recipeDescription,
  recipeName,
  recipeParams,
} from "../nouns/recipe.ts";
import { argsSchema } from "./answer-parts.ts";
import { toOperationProblem } from "./error-answer.ts";
import type { OperationContext } from "./operation.ts";
import { toPlan } from "./plan.ts";
import { toShownEffects } from "./plan-effects.ts";
import { newScript, perform, type RunResult, scriptFailure, scriptLimits, wrongRun } from "./run-plan.ts";

/**
 * Runs the script of a recipe for its caller. Resolves to its value; a dry run resolves to its effects.
 *
 * @throws the problem of a failed script, with the changes it made.
 */
export async function runRecipe(
  { code, params, dryRun, bounds }: BoundScript,
  signal: AbortSignal,
  outer: OperationContext,
): Promise<ScriptValue> {
  const { runScript: _, ...rest } = outer;
  // The caller chose the recipe; the calls in it say nothing about the caller's needs.
  const { learning: __, ...services } = outer.services;
  const context = {
    ...rest,
    services,
    request: { ...outer.request, signal },
    policy: { ...outer.policy, within: bounds },
  };
  const plan = toPlan([{ at: "script", script: newScript(code, params as Json) }]);
  const performance = await perform(plan, dryRun, scriptLimits({}, context), context);
  const { effects } = toShownEffects({ performance }, outer.view);
  const failed =
    performance.refused ??
    scriptFailure(performance)?.problem ??
    (performance.calls.dry === "approval"
      ? problem("APPROVAL_REQUIRED", { name: "The recipe", because: "" })
      : undefined);
  if (failed) throw customProblem(failed.code, failed.message, failed.next, { ...failed.details, effects });
  const { end } = performance.outcome;
  const returned = toJson(end.end === "returned" ? JSON.parse(end.json) : null);
  if (!returned.ok) throw problem("RESULT_INVALID", { name: "The recipe", reason: returned.reason });
  const value = dryRun ? { result: returned.value, effects } : returned.value;
  return { value, sources: [...performance.calls.sources] };
}

export const keepInput = z.object({
  name: recipeName,
  description: recipeDescription,
  params: argsSchema.optional().describe("Type or JSON Schema of each param"),
});
export type KeepInput = z.output<typeof keepInput>;

export const keptSchema = z.object({
  op: z.string(),
  lane: z.enum(LANES),
  file: z.string(),
  /** Why it cannot be called yet. */
  waits: z.string().optional(),
});
type NewRecipe = z.output<typeof keptSchema>;

/**
 * Refuses a recipe that could not be saved, before its script runs.
 *
 * @throws INVALID_INPUT, PERMISSION_DENIED or CONFLICT.
 */
export async function checkKeep(
  keep: KeepInput,
  code: string | undefined,
  { scripts: { recipes }, view }: OperationContext,
): Promise<void> {
  if (!recipes) throw wrongRun("this gateway keeps no recipes");
  if (!view.principal.allowWrite)
    throw problem("PERMISSION_DENIED", { name: `${RECIPES}.${keep.name}`, does: DOES.write });
  if (view.entries.some(({ domain, origin }) => domain === RECIPES && origin?.source !== RECIPES))
    throw wrongRun(`another domain is called ${RECIPES}`);
  const params = recipeParams.safeParse(keep.params ?? {});
  if (!params.success) {
    const [{ path, message }] = params.error.issues as [z.core.$ZodIssue];
    throw wrongRun(`keep.params.${path.join(".")}: ${message}`);
  }
  if (code !== undefined) await recipes.check({ name: keep.name, code });
}

/** The tool that a script was saved as, or the reason why it was not. */
export type Keeping = { readonly kept: NewRecipe } | { readonly notKept: string };

/** A recipe asks as a whole if a call in it would ask under these bounds. */
const UNCONFIRMED: ScriptBounds = { lane: "destructive", confirmation: false };

/**
 * Saves the script of a successful run. Its lane is the strictest of its calls. It waits for approval like every
 * definition, unless a person approves it now.
 */
export async function keepRecipe(
  { name, description, params }: KeepInput,
  { performance, script }: RunResult,
  context: OperationContext,
): Promise<Keeping> {
  if (!performance || !script) return { notKept: "it ran dry" };
  const called = [...performance.calls.called];
  if (called.some(({ domain }) => domain === RECIPES)) return { notKept: "it runs another recipe" };
  const types = params ? recipeParams.parse(params) : paramsOf(script.params);
  if (!types) return { notKept: "name the types of its params" };
  const lane = LANES[Math.max(0, ...called.map((entry) => LANES.indexOf(entry.lane)))]!;
  const recipe: Recipe = {
    name,
    description,
    params: types,
    lane,
    confirmation: called.some((entry) => whyAsk(entry, { asks: "never", within: UNCONFIRMED })),
    calls: called.map(({ op }) => op).sort(),
    scopes: [...new Set(called.flatMap(({ scopes }) => scopes))].sort(),
    code: script.code,
  };
  try {
    const { file, approve } = await context.scripts.recipes!.keep(recipe);
    const waits = findInjection(recipe).length > 0 ? STEERS : await unapproved(recipe, context);
    if (!waits) await approve();
    return { kept: { op: `${RECIPES}.${name}`, lane, file, ...(waits && { waits }) } };
  } catch (error) {
    // The script itself succeeded.
    return { notKept: toOperationProblem(error, "keep").message.replace(/\.$/, "") };
  }
}

const STEERS = "it reads like instructions to a model";

/** Asks a person about a recipe with its whole content. Undefined if they approve; otherwise why it waits. */
async function unapproved(recipe: Recipe, context: OperationContext): Promise<string | undefined> {
  const { name, ...parts } = recipe;
  const op = `keep ${RECIPES}.${name}`;
  const question = { op, args: parts, hash: contentHash(recipe), why: "confirmation" } as const;
  try {
    const approval = await approvalOf({ ...question, ...askerOf(context) }, context);
    return approval ? undefined : "nobody was asked about it";
  } catch {
    return "the person said no";
  }
}
