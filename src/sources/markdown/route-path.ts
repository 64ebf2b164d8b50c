const PLAIN = /^[\w-]+(?:\/[\w-]+)*$/;

/** Where a file is found by route: `fragments/agents/My notes.md` is at `agents/My-notes`. */
export function routePath(path: string): string {
  const bare = path.slice(path.indexOf("/") + 1, -".md".length);
  if (PLAIN.test(bare)) return bare;
  return bare
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}\p{M}/._~-]+/gu, "-")
    .split("/")
    .map((segment) => (/^\.+$/.test(segment) ? "-" : segment))
    .join("/");
}

/** The routes of files, below `root`. Of two whose routes or ops would be the same, the first has it; the others are named. */
export function uniqueRoutes(
  paths: readonly string[],
  root: string,
  taken: readonly string[],
): { byPath: ReadonlyMap<string, string>; doubled: readonly string[] } {
  const byPath = new Map<string, string>();
  const known = new Set(taken);
  const doubled: string[] = [];
  for (const path of paths) {
    const route = routePath(path);
    // An op writes dots for slashes, so routes that differ in nothing else would have the same one.
    const key = route.includes(".") ? route.replaceAll(".", "/") : route;
    if (known.has(key)) doubled.push(path);
    else byPath.set(path, root + route);
    known.add(key);
  }
  return { byPath, doubled };
}
