import { basename, dirname, join, normalize } from "node:path/posix";
import type { FragmentFile } from "./files/library-file.ts";

const URI = /^([a-z][a-z0-9+.-]*):\/\/(?:resources\/)?(.+)$/i;

/**
 * Resolves the names of fragments in the text of another one: relative path, path, id, file name, or URI of one of
 * the schemes.
 */
export function createReferences(
  fragments: readonly FragmentFile[],
  schemes: readonly string[],
): (from: FragmentFile) => readonly string[] {
  const spellings = new Map(
    fragments
      .filter(({ facts }) => facts.references.length > 0)
      .map(({ path, facts }) => [path, facts.references.map((name) => spellingsOf(name, path, schemes))]),
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

function spellingsOf(name: string, from: string, schemes: readonly string[]): string[] {
  const [, scheme, path] = URI.exec(name) ?? [];
  if (scheme === undefined) return [join(dirname(from), name), normalize(name), basename(name)];
  return schemes.includes(scheme) ? [`${path}.md`] : [];
}

/** Indexes paths by the names in use. Paths come first, so that no id hides a path. */
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
