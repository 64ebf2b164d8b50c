/** The last segment of routes that find fragments by a query. */
export const MATCH = "match";

const PLAIN = /^[\w-]+(?:\/[\w-]+)*$/;

/** The path of a file in its route: `fragments/agents/My notes.md` becomes `agents/My-notes`. */
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

/** The first folder of a fragment: `agents` for `fragments/agents/deep/x.md`. Empty if it is in none. */
export function folderOf(path: string): string {
  const start = path.indexOf("/") + 1;
  const end = path.indexOf("/", start);
  return end < 0 ? "" : routePath(`${path.slice(0, end)}.md`);
}

/** Assigns routes below `root`. Of files with the same route or op, the first gets it. */
export function uniqueRoutes(
  paths: readonly string[],
  root: string,
  taken: readonly string[],
): { byPath: ReadonlyMap<string, string>; doubled: readonly string[] } {
  const byPath = new Map<string, string>();
  const used = new Set(taken);
  const doubled: string[] = [];
  for (const path of paths) {
    const route = routePath(path);
    // Dots and slashes are equal in ops: `x.y` and `x/y` would share one.
    const key = route.includes(".") ? route.replaceAll(".", "/") : route;
    if (used.has(key)) doubled.push(path);
    else byPath.set(path, root + route);
    used.add(key);
  }
  return { byPath, doubled };
}

/** The name of a library, and the scheme of its own URIs if it has one. */
export interface LibraryName {
  readonly domain: string;
  readonly scheme?: string | undefined;
}

/**
 * The address of a path besides its route, such as `orchestr8://agents/types`. The default scheme is the domain's name.
 * Answers and clients show the `uri` of a library with its own scheme.
 */
export function ownAddress({ domain, scheme }: LibraryName, path: string) {
  const address = `${scheme ?? domain}://${path}`;
  return { addresses: [address], ...(scheme !== undefined && { uri: address }) };
}
