import { BARE_ENTRY } from "../../schema/bare-entry.ts";
import type { EntryDraft } from "../../schema/entry.ts";
import { problem } from "../../schema/problem.ts";
import { RECIPES, type Recipe, toParamsSchema } from "../../schema/recipe.ts";
import { contentHash } from "../../util/content-hash.ts";

export function recipeRoute(name: string): string {
  return `${RECIPES}://tools/${name}`;
}

/** The hash that an approval of a recipe is bound to: of its code and everything else in its file. */
export function recipeHash(recipe: Recipe): string {
  return contentHash(recipe);
}

/** Makes the tool of a recipe. Its calls are calls of the recipe's caller, within the recipe's bounds. */
export function recipeDraft(recipe: Recipe, program: string): EntryDraft {
  const { name, description, params, scopes, code, ...bounds } = recipe;
  const run = (dryRun: boolean) => async (given: Record<string, unknown>, context: RunContext) => {
    if (!context.runScript)
      throw problem("UNAVAILABLE", {
        name: `${RECIPES}.${name}`,
        state: "in a recipe",
        reason: "recipes do not run in recipes.",
      });
    return context.runScript({ code, params: given, dryRun, bounds });
  };
  return {
    ...BARE_ENTRY,
    kind: "tool",
    route: recipeRoute(name),
    domain: RECIPES,
    name,
    description,
    scopes,
    lane: bounds.lane,
    defaultLane: bounds.lane,
    riskLevel: "safe",
    requiresConfirmation: bounds.confirmation,
    inputSchema: toParamsSchema(params),
    extraction: null,
    code,
    origin: {
      source: RECIPES,
      program,
      definition: { ...recipe },
      hash: recipeHash(recipe),
      trusted: false,
    },
    call: run(false),
    dryRun: run(true),
  };
}

type RunContext = Parameters<Extract<EntryDraft, { kind: "tool" }>["call"]>[1];
