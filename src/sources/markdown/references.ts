import { basename, dirname, join, normalize } from "node:path/posix";
import type { FragmentFile } from "./library-file.ts";

/** Finds the fragment that a name in another one means: by its path from there, its path, its id, its file. */
export function createReferences(
  fragments: readonly FragmentFile[],
): (from: FragmentFile) => readonly string[] {
  const paths = new Set(fragments.map(({ path }) => path));
  const byName = new Map<string, string>();
  for (const { path, facts } of fragments) {
    for (const name of [facts.id, basename(path), path.slice(path.indexOf("/") + 1)]) {
      if (!byName.has(name)) byName.set(name, path);
    }
  }
  return (from) => {
    const found = from.facts.references.map((name) => {
      const near = join(dirname(from.path), name);
      return paths.has(near) ? near : (byName.get(normalize(name)) ?? byName.get(basename(name)));
    });
    return [...new Set(found.filter((path) => path !== undefined && path !== from.path))] as string[];
  };
}
