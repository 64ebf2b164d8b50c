import { setImmediate } from "node:timers/promises";
import { RE2JS } from "re2js";
import { z } from "zod";
import { countOf } from "../../base/util/count-of.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { compileGlob } from "../permissions/match-glob.ts";
import { isInside } from "../permissions/sensitive-path.ts";
import { isBinary, loadFile } from "./file-content.ts";
import { toolProblem } from "./tool-problem.ts";
import { type Walked, walk } from "./walk.ts";
import { defineWorkspaceTool, pathSchema, permitted, type WorkspaceContext } from "./workspace-tool.ts";

const LINE_CHARS = 500;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_FILES = 20_000;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
const MAX_PROGRAM = 2_000;
const PLAIN = /^[^\\^$.|?*+()[\]{}]+$/;

const searchInput = z.strictObject({
  pattern: z.string().min(1).max(1_000).describe("a regular expression (RE2), matched line by line"),
  path: pathSchema.default(".").describe("the folder or file to search in"),
  files: z.string().min(1).max(500).optional().describe("only paths like this, such as **/*.ts"),
  ignoreCase: z.boolean().default(false),
  literal: z.boolean().default(false).describe("take the pattern as plain text"),
  limit: z.int().min(1).max(1_000).default(100).describe("how many lines"),
});

export const searchTool = defineWorkspaceTool({
  name: "search",
  lane: "read",
  description: "Search the lines of the project's files by a regular expression",
  inputSchema: searchInput,
  examples: [{ args: { pattern: "function \\w+Name", files: "**/*.ts" } }],
  phrases: ["grep", "ripgrep", "find in files", "where is it used"],
  run: search,
  toText: searchText,
});

interface SearchMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** One line for each match: path, number, text. */
function searchText({
  matches,
  filesSearched,
  filesSkipped,
  more,
}: Awaited<ReturnType<typeof search>>): string {
  const skipped = filesSkipped > 0 ? `, ${countOf(filesSkipped, "file")} left out` : "";
  const end = more ? "; a limit ended the search early, so there may be more" : "";
  const lines = matches.map(({ path, line, text }) => `${path}:${line}: ${text}`);
  return [
    `[${countOf(matches.length, "line")} in ${countOf(filesSearched, "file")}${skipped}${end}]`,
    ...lines,
  ].join("\n");
}

async function search(input: z.output<typeof searchInput>, context: WorkspaceContext, signal?: AbortSignal) {
  const path = await permitted(context, "fs-read", input.path, signal);
  const test = toTest(input);
  const isWanted = input.files === undefined ? () => true : compileGlob(input.files);
  const matches: SearchMatch[] = [];
  let filesSearched = 0;
  /** Too large, or not readable without asking. */
  let filesSkipped = 0;
  let bytes = 0;
  /** Whether a limit ended the search early. */
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
  return { matches, filesSearched, filesSkipped, more };
}

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

/** @throws `INVALID_PARAMS` for a pattern that cannot be used. */
function toTest({ pattern, ignoreCase, literal }: z.output<typeof searchInput>) {
  if (literal || PLAIN.test(pattern)) {
    if (!ignoreCase) return (line: string) => line.includes(pattern);
    const wanted = pattern.toLowerCase();
    return (line: string) => line.toLowerCase().includes(wanted);
  }
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    if (compiled.programSize() <= MAX_PROGRAM) return (line: string) => compiled.matcher(line).find();
  } catch {
    throw toolProblem(
      "INVALID_PARAMS",
      "The pattern is not a regular expression of RE2, which has no look-around and no back-references.",
    );
  }
  throw toolProblem("INVALID_PARAMS", "The pattern is too large.");
}

const listInput = z.strictObject({
  path: pathSchema.default("."),
  depth: z.int().min(1).max(32).default(1).describe("how many folders down"),
  ignored: z.boolean().default(false).describe("include files that .gitignore leaves out"),
  limit: z.int().min(1).max(5_000).default(500),
});

export const listTool = defineWorkspaceTool({
  name: "list",
  lane: "read",
  description: "List the files and folders in a folder of the project, without ignored ones",
  inputSchema: listInput,
  examples: [{ args: { path: "src", depth: 2 } }],
  phrases: ["ls", "directory listing", "which files are there", "tree"],
  run: list,
  toText: listText,
});

/** One line for each entry; folders end with a slash. */
function listText({ path, entries, more }: Awaited<ReturnType<typeof list>>): string {
  const end = more ? "; there are more: name a folder below, or raise limit" : "";
  const lines = entries.map((entry) => `${entry.path}${MARKS[entry.kind] ?? ""}`);
  return [`[${entries.length} entries of ${path}${end}]`, ...lines].join("\n");
}

const MARKS: Readonly<Record<string, string>> = { folder: "/", link: "@" };

async function list(
  { path: given, depth, ignored, limit }: z.output<typeof listInput>,
  context: WorkspaceContext,
  signal?: AbortSignal,
) {
  const path = await permitted(context, "fs-read", given, signal);
  const top = isInside(path, context.root) ? context.root : path;
  const entries: Walked[] = [];
  for await (const entry of walk(top, path, { depth, ignored, signal })) {
    if (entries.length >= limit) return { path: given, entries, more: true };
    entries.push(entry);
  }
  return { path: given, entries, more: false };
}
