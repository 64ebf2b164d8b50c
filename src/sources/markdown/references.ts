import { basename, dirname, join, normalize } from "node:path/posix";
import type { FragmentFile } from "./files/library-file.ts";

/** Finds the fragments that the names in another one mean: by path from there, by path, by id, by file name. */
export function createReferences(
  fragments: readonly FragmentFile[],
): (from: FragmentFile) => readonly string[] {
  const spellings = new Map(
    fragments
      .filter(({ facts }) => facts.references.length > 0)
      .map(({ path, facts }) => [
        path,
        facts.references.map((name) => [join(dirname(path), name), normalize(name), basename(name)]),
      ]),
  );
  const paths = indexNames(fragments, new Set([...spellings.values()].flat(2)));
  return ({ path: from }) => {
    const found = new Set<string>();
    for (const names of spellings.get(from) ?? []) {
      const path = names.map((name) => paths.get(name)).find((one) => one !== undefined);
      if (path !== undefined && path !== from) found.add(path);
    }
    return [...found];
  };
}

/** Paths by those names that somebody uses. Whole paths first: no id of another file takes the place of one. */
function indexNames(
  fragments: readonly FragmentFile[],
  used: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  if (used.size === 0) return names;
  for (const { path } of fragments) if (used.has(path)) names.set(path, path);
  for (const { path, facts } of fragments) {
    for (const name of [path.slice(path.indexOf("/") + 1), facts.id, path.slice(path.lastIndexOf("/") + 1)]) {
      if (used.has(name) && !names.has(name)) names.set(name, path);
    }
  }
  return names;
}
