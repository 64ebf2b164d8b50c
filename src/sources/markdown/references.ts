import { basename, dirname, join, normalize } from "node:path/posix";
import type { FragmentFile } from "./library-file.ts";

/** Finds the fragments that the names in another one mean: by path from there, by path, by id, by file name. */
export function createReferences(
  fragments: readonly FragmentFile[],
): (from: FragmentFile) => readonly string[] {
  let names: ReadonlyMap<string, string> | undefined;
  return (from) => {
    if (from.facts.references.length === 0) return NONE;
    names ??= indexNames(fragments);
    const found = new Set<string>();
    for (const name of from.facts.references) {
      const near = names.get(join(dirname(from.path), name));
      const path = near ?? names.get(normalize(name)) ?? names.get(basename(name));
      if (path !== undefined && path !== from.path) found.add(path);
    }
    return [...found];
  };
}

const NONE: readonly string[] = [];

/** Whole paths first: no id of another file takes the place of one. */
function indexNames(fragments: readonly FragmentFile[]): Map<string, string> {
  const names = new Map(fragments.map(({ path }) => [path, path]));
  for (const { path, facts } of fragments) {
    for (const name of [path.slice(path.indexOf("/") + 1), facts.id, path.slice(path.lastIndexOf("/") + 1)]) {
      if (!names.has(name)) names.set(name, path);
    }
  }
  return names;
}
