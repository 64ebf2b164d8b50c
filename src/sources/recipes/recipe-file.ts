import { basename } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { LANES } from "../../core/nouns/entry.ts";
import { type Recipe, recipeDescription, recipeName, recipeParams } from "../../core/nouns/recipe.ts";
import { fileProblem, parseFrontMatter, readFields } from "../markdown/files/front-matter.ts";

const frontMatter = z.object({
  description: recipeDescription,
  lane: z.enum(LANES).default("read"),
  confirmation: z.boolean().default(false),
  params: recipeParams.default({}),
  calls: z.array(z.string().min(1)).optional(),
  scopes: z.array(z.string().min(1)).default([]),
});

/**
 * Parses a recipe: front matter, and the code in a fence. It is named after the file.
 *
 * @throws FILE_INVALID with the location of the mistake.
 */
export function parseRecipe(file: string, text: string): Recipe {
  const matter = parseFrontMatter(text, file);
  const name = recipeName.safeParse(basename(file, ".md"));
  if (!name.success) throw fileProblem(file, 1, 1, `its name ${name.error.issues[0]!.message}`);
  const { calls, ...fields } = readFields(frontMatter, matter, file);
  const code = codeIn(matter.body);
  if (code === "") throw fileProblem(file, matter.bodyLine, 1, "there is no code in it");
  if (toVisibleText(code) !== code)
    throw fileProblem(file, matter.bodyLine, 1, "there are invisible characters in its code");
  return { name: name.data, ...fields, ...(calls && { calls }), code };
}

/** Formats a recipe as a file for {@link parseRecipe}. */
export function writeRecipe(recipe: Recipe): string {
  const { description, lane, confirmation, params, calls, scopes, code } = recipe;
  const fields = {
    description,
    lane,
    ...(confirmation && { confirmation }),
    ...(Object.keys(params).length > 0 && { params }),
    ...(calls && { calls }),
    ...(scopes.length > 0 && { scopes }),
  };
  const fence = "`".repeat(Math.max(3, 1 + longestRun(code)));
  return `---\n${stringify(fields, { lineWidth: 0 })}---\n\n${fence}js\n${code}\n${fence}\n`;
}

/** The code in the first fence, or the whole text without one. */
function codeIn(body: string): string {
  const [, fence] = /^(`{3,}|~{3,})[^\n`]*\n/m.exec(body) ?? [];
  if (fence === undefined) return body.trim();
  const start = body.indexOf("\n", body.search(new RegExp(`^${fence}`, "m"))) + 1;
  const length = body.slice(start).search(new RegExp(`^${fence}\\s*$`, "m"));
  return (length < 0 ? body.slice(start) : body.slice(start, start + length)).trim();
}

function longestRun(code: string): number {
  return Math.max(0, ...(code.match(/`+/g) ?? []).map((run) => run.length));
}
