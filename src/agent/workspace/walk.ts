import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { compileGlob } from "../permissions/match-glob.ts";
import { loadFile } from "./file-content.ts";

const MAX_DEPTH = 64;
const MAX_IGNORE_CHARS = 256 * 1024;

export interface Walked {
  /** The path relative to the folder where the walk began. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "other";
}

export interface WalkOptions {
  /** How many folders down; 1 is the folder itself. */
  readonly depth?: number;
  /** Whether ignored files come too. */
  readonly ignored?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lists a folder and the folders below it by name, each folder before its content. Does not follow links and leaves
 * `.git` out. Ignore files count from `top` down.
 */
export async function* walk(top: string, folder: string, options: WalkOptions = {}): AsyncGenerator<Walked> {
  const start = folder === top ? "" : folder.slice(top.length + 1);
  const parts = start === "" ? [] : start.split("/");
  let ignored: Patterns = [];
  if (!options.ignored) {
    for (let depth = 0; depth < parts.length; depth += 1) {
      ignored = await withIgnoreFile(ignored, top, parts.slice(0, depth).join("/"));
    }
  }
  yield* walkFolder(top, start, "", ignored, options, options.depth ?? MAX_DEPTH);
}

async function* walkFolder(
  top: string,
  start: string,
  inner: string,
  above: Patterns,
  options: WalkOptions,
  depth: number,
): AsyncGenerator<Walked> {
  options.signal?.throwIfAborted();
  const relative = [start, inner].filter((part) => part !== "").join("/");
  const ignored = options.ignored ? above : await withIgnoreFile(above, top, relative);
  for (const entry of await entriesOf(join(top, relative), inner === "")) {
    const fromTop = relative === "" ? entry.name : `${relative}/${entry.name}`;
    if (entry.name === ".git" || isIgnored(ignored, fromTop, entry.isDirectory())) continue;
    const path = inner === "" ? entry.name : `${inner}/${entry.name}`;
    yield { path, kind: kindOf(entry) };
    if (entry.isDirectory() && depth > 1) yield* walkFolder(top, start, path, ignored, options, depth - 1);
  }
}

/** The entries of a folder; none if it cannot be read, unless it is the first one. */
async function entriesOf(folder: string, isFirst: boolean): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (error) {
    if (isFirst) throw error;
    return [];
  }
}

async function withIgnoreFile(above: Patterns, top: string, folder: string): Promise<Patterns> {
  const content = await loadFile(join(top, folder, ".gitignore")).catch(() => undefined);
  if (content === undefined || content.bytes.length > MAX_IGNORE_CHARS) return above;
  const lines = content.bytes.toString("utf8").split(/\r?\n/);
  return [...above, ...lines.flatMap((line) => readPattern(folder, line) ?? [])].slice(-MAX_PATTERNS);
}

function kindOf(entry: Dirent): Walked["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

const MAX_PATTERNS = 5_000;

/** The patterns of the ignore files from the top folder down to one folder. Paths are relative to the top folder. */
type Patterns = readonly Pattern[];

interface Pattern {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  matches(path: string): boolean;
}

/** Whether the ignore files from the top folder down leave a path out. */
function isIgnored(patterns: Patterns, path: string, isFolder: boolean): boolean {
  const last = patterns.findLast((pattern) => (isFolder || !pattern.foldersOnly) && pattern.matches(path));
  return last !== undefined && !last.negated;
}

function readPattern(folder: string, line: string): Pattern | undefined {
  const trimmed = trimEnd(line);
  if (trimmed === "" || trimmed.startsWith("#")) return undefined;
  const negated = trimmed.startsWith("!");
  const body = negated ? trimmed.slice(1) : trimmed;
  const foldersOnly = body.endsWith("/");
  const bare = foldersOnly ? body.slice(0, -1) : body;
  // A slash at the start or in the middle ties a pattern to its folder.
  const tied = bare.includes("/");
  const matches = compileGlob(tied ? bare.replace(/^\//, "") : `**/${bare}`, { sets: true });
  const prefix = folder === "" ? "" : `${folder}/`;
  return {
    negated,
    foldersOnly,
    matches: (path) => path.startsWith(prefix) && matches(path.slice(prefix.length)),
  };
}

/** Removes spaces at the end, except behind a backslash. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && line[end - 2] !== "\\") end -= 1;
  return line.slice(0, end);
}
