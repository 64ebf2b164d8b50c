import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isProblem, problem } from "../../base/problems/problem.ts";
import type { Clock } from "../../base/util/clock.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import { BARE_ENTRY } from "../../core/nouns/bare-entry.ts";
import type { CallContext, Domain, EntryDraft } from "../../core/nouns/entry.ts";
import { RECIPES, type Recipe, toParamsSchema } from "../../core/nouns/recipe.ts";
import type { Source, SourceContent } from "../../core/nouns/source.ts";
import { followSource, type Reading } from "../follow-source.ts";
import { type FolderWatch, watchFolders } from "../markdown/watch-folders.ts";

/** A saved recipe, with the address and hash of its definition. */
export interface SavedRecipe {
  /** The file name only: remote callers need not know the folder. */
  readonly file: string;
  readonly route: string;
  readonly hash: string;
}

/** The recipes of a folder. */
export interface RecipeSource extends Source {
  /** @throws CONFLICT if another recipe has this name. */
  check(recipe: Pick<Recipe, "name" | "code">): Promise<void>;
  /** Writes the file of a recipe. Resolves when its content is in use. */
  save(recipe: Recipe): Promise<SavedRecipe>;
}

const DOMAIN: Domain = {
  name: RECIPES,
  description: "Scripts over the other tools that were kept as tools.",
  scopes: [],
  rules: [],
  readBeforeWrite: "off",
};
const MAX_RECIPES = 1_000;
const MAX_BYTES = 256 * 1024;
const FOLDER_MODE = 0o700;
const EMPTY: SourceContent = { domains: [], drafts: [] };

/** Follows the recipes in a folder, one Markdown file each. The first recipe creates the folder. */
export function createRecipeSource(folder: string, clock: Clock): RecipeSource {
  const directory = resolve(folder);
  const good = new Map<string, Recipe>();
  let seen = contentHash([]);
  let content = EMPTY;
  let reported: ReadonlySet<string> = new Set();
  let watch: FolderWatch | undefined;

  async function read(): Promise<Reading> {
    // Watches the parent until the folder exists.
    const folders = [directory, dirname(directory)].filter((each) => existsSync(each)).slice(0, 1);
    watch?.follow(folders);
    const names = await markdownIn(directory);
    const problems = new Set<string>();
    for (const name of [...good.keys()]) if (!names.includes(name)) good.delete(name);
    for (const name of names) await readOne(name, problems);
    const recipes = names.flatMap((name) => good.get(name) ?? []);
    const now = contentHash([recipes, [...problems]]);
    if (now === seen) return { content };
    seen = now;
    content = {
      domains: recipes.length > 0 ? [DOMAIN] : [],
      drafts: recipes.map((recipe) => recipeDraft(recipe, directory)),
      warnings: [...problems].filter((each) => !reported.has(each)),
    };
    reported = problems;
    return { content };
  }

  /** An invalid file keeps its last good content. */
  async function readOne(name: string, problems: Set<string>): Promise<void> {
    const file = join(directory, name);
    try {
      if ((await stat(file)).size > MAX_BYTES)
        problems.add(`${name}:1:1: it is longer than ${MAX_BYTES} bytes.`);
      else good.set(name, (await recipeFile()).parseRecipe(name, await readFile(file, "utf8")));
    } catch (error) {
      if (isProblem(error)) problems.add(error.message);
    }
  }

  const followed = followSource({
    clock,
    read,
    isLocal: true,
    watch: ({ changed }) => {
      const watcher = watchFolders(changed, clock);
      watch = watcher;
      return watcher.close;
    },
  });

  async function check({ name, code }: Pick<Recipe, "name" | "code">): Promise<void> {
    const file = join(directory, `${name}.md`);
    if (!existsSync(file)) return;
    const saved = good.get(`${name}.md`);
    if (saved?.code === code.trim()) return;
    throw problem("CONFLICT", { reason: `There is another recipe of the name ${name}.` });
  }

  return {
    id: RECIPES,
    digest: contentHash({ directory }),
    ...followed,
    check,
    save: async (given) => {
      const recipe = { ...given, code: given.code.trim() };
      await check(recipe);
      await mkdir(directory, { recursive: true, mode: FOLDER_MODE });
      const file = `${recipe.name}.md`;
      const { parseRecipe, writeRecipe } = await recipeFile();
      const text = writeRecipe(recipe);
      const hash = contentHash(parseRecipe(file, text));
      await writeFileAtomic(join(directory, file), text);
      await followed.refresh();
      return { file, route: recipeRoute(recipe.name), hash };
    },
  };
}

/** Most folders have no recipe, and the YAML parser is large. */
function recipeFile() {
  return import("./recipe-file.ts");
}

async function markdownIn(directory: string): Promise<readonly string[]> {
  if (!existsSync(directory)) return [];
  const names = await readdir(directory);
  return names
    .filter((name) => name.endsWith(".md") && !name.startsWith("."))
    .sort()
    .slice(0, MAX_RECIPES);
}

function recipeRoute(name: string): string {
  return `${RECIPES}://tools/${name}`;
}

/** Creates the tool of a recipe. Calls in it count as calls of the recipe's caller, within the recipe's bounds. */
function recipeDraft(recipe: Recipe, program: string): EntryDraft {
  const { name, description, params, scopes, code, ...bounds } = recipe;
  const run = (dryRun: boolean) => async (args: Record<string, unknown>, context: CallContext) => {
    const reason = "recipes do not run in recipes.";
    if (!context.runScript)
      throw problem("UNAVAILABLE", { name: `${RECIPES}.${name}`, state: "in a recipe", reason });
    return context.runScript({ code, params: args, dryRun, bounds });
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
    requiresConfirmation: bounds.confirmation,
    inputSchema: toParamsSchema(params),
    extraction: null,
    code,
    // An approval is bound to the hash of everything in the file.
    origin: {
      source: RECIPES,
      program,
      definition: { ...recipe },
      hash: contentHash(recipe),
      trusted: false,
      lane: bounds.lane,
    },
    call: run(false),
    dryRun: run(true),
  };
}
