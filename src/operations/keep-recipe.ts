import { z } from "zod";
import type { Entry } from "../schema/entry.ts";
import { LANES } from "../schema/entry.ts";
import { type Problem, problem } from "../schema/problem.ts";
import {
  paramsOf,
  RECIPES,
  type Recipe,
  recipeDescription,
  recipeName,
  recipeParams,
} from "../schema/recipe.ts";
import { argsSchema } from "./answer-parts.ts";
import type { OperationContext } from "./operation.ts";
import type { Performance } from "./perform-plan.ts";
import type { PlanScript } from "./plan.ts";

export const keepInput = z.object({
  name: recipeName,
  description: recipeDescription,
  params: argsSchema.optional().describe("Type or JSON Schema of each param"),
});
export type KeepInput = z.output<typeof keepInput>;

export const keptSchema = z.object({ op: z.string(), lane: z.enum(LANES), file: z.string() });
export type Kept = z.output<typeof keptSchema>;

/**
 * Refuses a recipe that could not be kept, before its script runs.
 *
 * @throws INVALID_INPUT, PERMISSION_DENIED or CONFLICT.
 */
export async function checkKeep(
  keep: KeepInput,
  code: string | undefined,
  { scripts: { recipes }, view }: OperationContext,
): Promise<void> {
  if (!recipes) throw wrongKeep("this gateway keeps no recipes");
  if (!view.principal.allowWrite)
    throw problem("PERMISSION_DENIED", { name: `${RECIPES}.${keep.name}`, lane: "write" });
  if (view.entries.some(({ domain, origin }) => domain === RECIPES && origin?.source !== RECIPES))
    throw wrongKeep(`another domain is called ${RECIPES}`);
  const params = recipeParams.safeParse(keep.params ?? {});
  if (!params.success) {
    const [{ path, message }] = params.error.issues as [z.core.$ZodIssue];
    throw wrongKeep(`keep.params.${path.join(".")}: ${message}`);
  }
  if (code !== undefined) await recipes.check({ name: keep.name, code });
}

/** Keeps the script of a run that went well. Its lane is the strictest of the calls it made. */
export async function keepRecipe(
  { name, description, params }: KeepInput,
  script: PlanScript,
  { called }: Performance,
  { scripts: { recipes } }: OperationContext,
): Promise<Kept | { readonly refused: string }> {
  if (called.some(({ domain }) => domain === RECIPES)) return { refused: "it runs another recipe" };
  const types = params ? recipeParams.parse(params) : paramsOf(script.params);
  if (!types) return { refused: "name the types of its params" };
  const lane = LANES[Math.max(0, ...called.map((entry) => LANES.indexOf(entry.lane)))]!;
  const recipe: Recipe = {
    name,
    description,
    params: types,
    lane,
    confirmation: called.some(needsConfirmation),
    calls: called.map(({ op }) => op).sort(),
    scopes: [...new Set(called.flatMap(({ scopes }) => scopes))].sort(),
    code: script.code,
  };
  return { op: `${RECIPES}.${name}`, lane, file: await recipes!.keep(recipe) };
}

function needsConfirmation(entry: Entry): boolean {
  return entry.kind === "tool" && entry.requiresConfirmation;
}

function wrongKeep(reason: string): Problem {
  return problem("INVALID_INPUT", { operation: "run", reason });
}
