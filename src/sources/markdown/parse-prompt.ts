import { basename, dirname } from "node:path/posix";
import { z } from "zod";
import { toSummary } from "../../util/to-summary.ts";
import type { TokenCounter } from "../../util/tokens.ts";
import { readFields, scopes, text, tokens, words } from "./fields.ts";
import { type FrontMatter, fileProblem } from "./files/front-matter.ts";
import type { PromptFacts } from "./files/library-file.ts";
import { readOutline } from "./outline.ts";
import { ALL_ARGUMENTS, namesAllArguments } from "./substitute.ts";

const argumentName = z
  .string()
  .trim()
  .regex(/^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u, "must be letters, digits, dots, hyphens and underscores");

const argument = z.union([
  argumentName.transform((name) => ({ name, required: false })),
  z
    .object({ name: argumentName, description: text, required: z.boolean().nullish() })
    .transform(({ name, description, required }) => ({
      name,
      ...(description && { description }),
      required: required ?? false,
    })),
]);

const frontMatter = z.object({
  name: text,
  title: text,
  description: text,
  version: text,
  arguments: z.array(argument).max(64).nullish(),
  category: text,
  tags: words,
  estimatedTokens: tokens,
  scopes,
});

/** Reads a prompt. If it uses `$ARGUMENTS` and declares no argument, it takes one optional argument. */
export function parsePrompt(
  path: string,
  matter: FrontMatter,
  body: string,
  countTokens: TokenCounter,
): PromptFacts {
  const fields = readFields(frontMatter, matter, path);
  const declared = fields.arguments ?? [];
  if (new Set(declared.map(({ name }) => name)).size < declared.length)
    throw fileProblem(path, matter.lines.arguments ?? 1, 1, "arguments: a name occurs twice");
  const { title, lead } = readOutline(body);
  const name = fields.name ?? basename(path, ".md");
  const category = fields.category ?? dirname(path).split("/")[1];
  const shown = fields.title ?? title;
  return {
    name,
    ...(shown && { title: shown }),
    description: fields.description ?? (toSummary(lead) || shown || name),
    ...(fields.version && { version: fields.version }),
    arguments:
      declared.length === 0 && namesAllArguments(body)
        ? [{ name: ALL_ARGUMENTS, required: false }]
        : declared,
    ...(category && { category }),
    tags: fields.tags ?? [],
    estimatedTokens: fields.estimatedTokens ?? countTokens(body),
    scopes: fields.scopes,
  };
}
