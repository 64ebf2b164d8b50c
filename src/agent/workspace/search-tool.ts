import { setImmediate } from "node:timers/promises";
import { RE2JS } from "re2js";
import { z } from "zod";
import { countOf } from "../../base/util/count-of.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { isInside } from "../permissions/decide.ts";
import { compileGlob } from "../permissions/match-glob.ts";
import { isBinary, loadFile } from "./file-content.ts";
import { fail, succeed } from "./tool-response.ts";
import { type Walked, walk } from "./walk.ts";
import { pathSchema, permitted, type ToolRun } from "./workspace-tool.ts";

const LINE_CHARS = 500;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_FILES = 20_000;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
const MAX_PROGRAM = 2_000;
const PLAIN = /^[^\\^$.|?*+()[\]{}]+$/;

export const searchInput = z.strictObject({
  pattern: z.string().min(1).max(1_000).describe("a regular expression (RE2), matched line by line"),
  path: pathSchema.default(".").describe("the folder or file to search in"),
  files: z.string().min(1).max(500).optional().describe("only paths like this, such as **/*.ts"),
  ignoreCase: z.boolean().default(false),
  literal: z.boolean().default(false).describe("take the pattern as plain text"),
  limit: z.int().min(1).max(1_000).default(100).describe("how many lines"),
});

export interface SearchMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface SearchOutput {
  readonly matches: readonly SearchMatch[];
  readonly filesSearched: number;
  /** How many files were left out: too large, or not readable without asking. */
  readonly filesSkipped: number;
  /** Whether a limit ended the search early. */
  readonly more: boolean;
}

/** One line for each match: path, number, text. */
export function searchText({ matches, filesSearched, filesSkipped, more }: SearchOutput): string {
  const skipped = filesSkipped > 0 ? `, ${countOf(filesSkipped, "file")} left out` : "";
  const end = more ? "; a limit ended the search early, so there may be more" : "";
  const lines = matches.map(({ path, line, text }) => `${path}:${line}: ${text}`);
  return [
    `[${countOf(matches.length, "line")} in ${countOf(filesSearched, "file")}${skipped}${end}]`,
    ...lines,
  ].join("\n");
}

export const runSearch: ToolRun<typeof searchInput, SearchOutput> = async (input, context, signal) => {
  const path = await permitted(context, "fs-read", input.path, signal);
  const test = toTest(input);
  if (typeof test === "string") return fail("INVALID_PARAMS", test);
  const isWanted = input.files === undefined ? () => true : compileGlob(input.files);
  const matches: SearchMatch[] = [];
  let filesSearched = 0;
  let filesSkipped = 0;
  let bytes = 0;
  let more = false;

  for await (const file of filesIn(path, context.root, signal)) {
    if (!isWanted(file.path)) continue;
    // The named file is permitted; nobody was asked about the others.
    if (file.absolute !== path && !context.permissions.mayRead(file.absolute)) {
      filesSkipped += 1;
      continue;
    }
    if (filesSearched >= MAX_FILES || bytes > MAX_TOTAL_BYTES) {
      more = true;
      break;
    }
    const content = await loadFile(file.absolute).catch(() => undefined);
    if (content === undefined || content.bytes.length > MAX_FILE_BYTES) {
      filesSkipped += 1;
      continue;
    }
    filesSearched += 1;
    bytes += content.bytes.length;
    if (isBinary(content.bytes)) continue;
    more = collect(content.bytes.toString("utf8"), file.path, test, matches, input.limit);
    if (more) break;
    await setImmediate();
    signal?.throwIfAborted();
  }
  const message = `${countOf(matches.length, "line")} in ${countOf(filesSearched, "file")}${more ? "; a limit ended the search early" : ""}.`;
  return succeed({ matches, filesSearched, filesSkipped, more }, message);
};

async function* filesIn(path: string, root: string, signal?: AbortSignal) {
  const top = isInside(path, root) ? root : path;
  try {
    for await (const entry of walk(top, path, { signal })) {
      if (entry.kind === "file")
        yield { path: entry.path, absolute: `${path === "/" ? "" : path}/${entry.path}` };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
    yield { path: path.slice(path.lastIndexOf("/") + 1), absolute: path };
  }
}

/** Adds matches and answers whether there are more than the limit. */
function collect(
  text: string,
  path: string,
  test: (line: string) => boolean,
  matches: SearchMatch[],
  limit: number,
): boolean {
  let line = 0;
  for (const each of text.split("\n")) {
    line += 1;
    if (!test(each)) continue;
    if (matches.length >= limit) return true;
    matches.push({ path, line, text: cutText(each.trimEnd(), LINE_CHARS) });
  }
  return false;
}

/** A test of lines, or the reason that the pattern gives none. */
function toTest({ pattern, ignoreCase, literal }: z.output<typeof searchInput>) {
  if (literal || PLAIN.test(pattern)) {
    if (!ignoreCase) return (line: string) => line.includes(pattern);
    const wanted = pattern.toLowerCase();
    return (line: string) => line.toLowerCase().includes(wanted);
  }
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    if (compiled.programSize() > MAX_PROGRAM) return "The pattern is too large.";
    return (line: string) => compiled.matcher(line).find();
  } catch {
    return "The pattern is not a regular expression of RE2, which has no look-around and no back-references.";
  }
}

export const listInput = z.strictObject({
  path: pathSchema.default("."),
  depth: z.int().min(1).max(32).default(1).describe("how many folders down"),
  ignored: z.boolean().default(false).describe("include files that .gitignore leaves out"),
  limit: z.int().min(1).max(5_000).default(500),
});

export interface ListOutput {
  readonly path: string;
  readonly entries: readonly Walked[];
  /** Whether there are more entries than the limit. */
  readonly more: boolean;
}

/** One line for each entry; folders end with a slash. */
export function listText({ path, entries, more }: ListOutput): string {
  const end = more ? "; there are more: name a folder below, or raise limit" : "";
  const lines = entries.map((entry) => `${entry.path}${MARKS[entry.kind] ?? ""}`);
  return [`[${entries.length} entries of ${path}${end}]`, ...lines].join("\n");
}

const MARKS: Readonly<Record<string, string>> = { folder: "/", link: "@" };

export const runList: ToolRun<typeof listInput, ListOutput> = async (input, context, signal) => {
  const path = await permitted(context, "fs-read", input.path, signal);
  const top = isInside(path, context.root) ? context.root : path;
  const entries: Walked[] = [];
  let more = false;
  for await (const entry of walk(top, path, { depth: input.depth, ignored: input.ignored, signal })) {
    more = entries.length >= input.limit;
    if (more) break;
    entries.push(entry);
  }
  const message = more
    ? `The first ${entries.length} entries. For more, name a folder below or raise limit.`
    : `${entries.length} entries.`;
  return succeed({ path: input.path, entries, more }, message);
};
