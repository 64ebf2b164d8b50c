import type { BoundScript } from "../schema/entry.ts";
import { problem, problemSaying } from "../schema/problem.ts";
import type { Json } from "../util/json.ts";
import { toJson } from "../util/to-json.ts";
import type { OperationContext } from "./operation.ts";
import { perform } from "./perform-plan.ts";
import { toPlan } from "./plan.ts";
import { toShownEffects } from "./plan-effects.ts";
import { newScript, scriptLimits } from "./run-plan.ts";
import { scriptFailure } from "./script-problem.ts";

/**
 * Runs the script of a recipe for the caller of the recipe. Resolves to its value; a dry run resolves to its effects.
 *
 * @throws the problem of a script that fails, with what it has changed.
 */
export async function runRecipe(
  { code, params, dryRun, bounds }: BoundScript,
  signal: AbortSignal,
  outer: OperationContext,
): Promise<Json> {
  const { runScript: _, ...rest } = outer;
  // The recipe was the caller's choice; the calls in it teach nothing about what the caller needs.
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
    (performance.dry === "approval" ? problem("APPROVAL_REQUIRED", { name: "The recipe" }) : undefined);
  if (failed) throw problemSaying(failed.code, failed.message, failed.next, { ...failed.details, effects });
  const { end } = performance.outcome;
  const returned = toJson(end.end === "returned" ? JSON.parse(end.json) : null);
  if (!returned.ok) throw problem("RESULT_INVALID", { name: "The recipe", reason: returned.reason });
  return dryRun ? ({ result: returned.value, effects } as unknown as Json) : returned.value;
}
