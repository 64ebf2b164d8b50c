import { basename } from "node:path/posix";
import { z } from "zod";
import type { TokenCounter } from "../../util/tokens.ts";
import { toVisibleText } from "../../util/visible-text.ts";
import { readFields, text } from "./fields.ts";
import { type FrontMatter, fileProblem, parseFrontMatter } from "./files/front-matter.ts";
import type { FileKind, LibraryFile, RuleFacts } from "./files/library-file.ts";
import { parseFragment } from "./parse-fragment.ts";
import { parsePrompt } from "./parse-prompt.ts";

interface RawFile {
  readonly path: string;
  readonly kind: FileKind;
  readonly stamp: string;
  readonly hash: string;
}

/** File name of rules that concern the whole domain. */
const ALL = "_all";
const ruleMatter = z.object({ category: text });

/**
 * Parses a file of a library.
 *
 * @throws FILE_INVALID with the place of the mistake.
 */
export function parseFile(raw: RawFile, content: string, countTokens: TokenCounter): LibraryFile {
  const matter = parseFrontMatter(content, raw.path);
  const body = toVisibleText(matter.body).trim();
  if (body === "") throw fileProblem(raw.path, matter.bodyLine, 1, "it has no text");
  const { path, kind, stamp, hash } = raw;
  const base = { path, stamp, hash, body };
  if (kind === "prompt") return { ...base, kind, facts: parsePrompt(path, matter, body, countTokens) };
  if (kind === "fragment") return { ...base, kind, facts: parseFragment(path, matter, body, countTokens) };
  return { ...base, kind, facts: parseRule(path, matter) };
}

function parseRule(path: string, matter: FrontMatter): RuleFacts {
  const category = readFields(ruleMatter, matter, path).category ?? basename(path, ".md");
  return category === ALL ? {} : { category };
}
