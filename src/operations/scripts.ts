import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Recipe } from "../schema/recipe.ts";
import type { PlanStore } from "../session/plan-store.ts";

/** A gateway's recipes, as `run` keeps them. */
export interface RecipeKeeper {
  /** @throws CONFLICT if another recipe has the name. */
  check(recipe: Pick<Recipe, "name" | "code">): Promise<void>;
  /** Saves a recipe as an approved tool. Resolves to the name of its file. */
  keep(recipe: Recipe): Promise<string>;
}

/** Everything that running a script needs, apart from what its calls need. */
export interface Scripts {
  readonly plans: PlanStore;
  readonly sandbox: Sandbox;
  /** Keeps scripts as tools. Absent if the gateway keeps none. */
  readonly recipes?: RecipeKeeper;
  /** The handle that a question of an earlier round left, to go on from there. */
  readonly resume?: string;
}
