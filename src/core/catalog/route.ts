import type { Kind } from "../../search/port/search-index.ts";

const MAX_CHARS = 512;

const FOLDERS: Readonly<Record<string, Kind>> = {
  tools: "tool",
  resources: "resource",
  skills: "skill",
  prompts: "prompt",
};

/** The parts of an entry's address. */
export interface Route {
  readonly domain: string;
  readonly kind: Kind;
  readonly path: string;
}

/** Parses a route such as `domain://tools/path`. Undefined if the text is not a route. */
export function parseRoute(text: string): Route | undefined {
  if (text.length > MAX_CHARS) return undefined;
  const match = /^([a-z][a-z0-9_-]*):\/\/([a-z]+)\/([^\s\p{Cc}]+)$/iu.exec(text);
  const [, domain, folder, path] = match ?? [];
  if (!domain || !folder || !path || !Object.hasOwn(FOLDERS, folder)) return undefined;
  if (path.split("/").some((segment) => segment === "" || segment === "." || segment === ".."))
    return undefined;
  return { domain, kind: FOLDERS[folder]!, path };
}

const PLAIN_SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9_.-]+$/;

/**
 * The op of a tool whose path is one plain segment; undefined for other routes. Same result as {@link parseRoute} and
 * {@link routeToOp}, but much faster for catalogs with many tools.
 */
export function plainToolOp(route: string, domain: string): string | undefined {
  const prefix = `${domain}://tools/`;
  if (route.length > MAX_CHARS || !route.startsWith(prefix)) return undefined;
  const path = route.slice(prefix.length);
  return PLAIN_SEGMENT.test(path) ? `${domain}.${path}` : undefined;
}

/** Converts a route to an op. Tools drop their folder: `onto://tools/task/list` is `onto.task.list`. */
export function routeToOp({ domain, kind, path }: Route): string {
  const folder = kind === "tool" ? [] : [`${kind}s`];
  return [domain, ...folder, ...path.split("/")].join(".");
}

/** Converts an op to the route of a tool. Undefined if the op does not begin with the domain. */
export function opToRoute(op: string, domain: string): string | undefined {
  const [first, ...segments] = op.split(".");
  if (first !== domain || segments.length === 0) return undefined;
  return `${domain}://tools/${segments.join("/")}`;
}
