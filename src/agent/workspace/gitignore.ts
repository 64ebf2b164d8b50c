import { compileGlob } from "../../util/match-glob.ts";

const MAX_PATTERNS = 5_000;

interface Pattern {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  matches(path: string): boolean;
}

/** The ignore files from the top folder down to one folder. */
export interface Ignored {
  /** Whether they leave a path out. Paths are relative to the top folder, with `/` between their parts. */
  has(path: string, isFolder: boolean): boolean;
  /** Adds the ignore file of a folder below. */
  below(folder: string, text: string): Ignored;
}

export const NOTHING_IGNORED: Ignored = withPatterns([]);

function withPatterns(patterns: readonly Pattern[]): Ignored {
  return {
    has(path, isFolder) {
      const last = patterns.findLast(
        (pattern) => (isFolder || !pattern.foldersOnly) && pattern.matches(path),
      );
      return last !== undefined && !last.negated;
    },
    below: (folder, text) => withPatterns([...patterns, ...readPatterns(folder, text)].slice(-MAX_PATTERNS)),
  };
}

function readPatterns(folder: string, text: string): Pattern[] {
  return text.split(/\r?\n/).flatMap((line) => readPattern(folder, line) ?? []);
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
