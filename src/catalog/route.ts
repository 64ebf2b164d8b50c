import type { Kind } from "../schema/entry.ts";

const FOLDERS: Readonly<Record<string, Kind>> = {
  tools: "tool",
  resources: "resource",
  skills: "skill",
  prompts: "prompt",
};

export interface Route {
  readonly domain: string;
  readonly kind: Kind;
  readonly path: string;
}

/** Reads `domain://tools/path`; undefined if it is not a route. */
export function parseRoute(text: string): Route | undefined {
  if (text.length > 512) return undefined;
  const match = /^([a-z][a-z0-9_-]*):\/\/([a-z]+)\/([^\s\p{Cc}]+)$/iu.exec(text);
  const [, domain, folder, path] = match ?? [];
  if (!domain || !folder || !path || !Object.hasOwn(FOLDERS, folder)) return undefined;
  if (path.split("/").some((segment) => segment === "" || segment === "." || segment === ".."))
    return undefined;
  return { domain, kind: FOLDERS[folder]!, path };
}

export function formatRoute({ domain, kind, path }: Route): string {
  return `${domain}://${kind}s/${path}`;
}

/** The dotted spelling of a route. Tools drop their folder: `onto://tools/task/list` is `onto.task.list`. */
export function routeToOp({ domain, kind, path }: Route): string {
  const folder = kind === "tool" ? [] : [`${kind}s`];
  return [domain, ...folder, ...path.split("/")].join(".");
}

/** The tool route that an op spells, or undefined if it does not begin with the domain. */
export function opToRoute(op: string, domain: string): string | undefined {
  const [first, ...rest] = op.split(".");
  if (first !== domain || rest.length === 0) return undefined;
  return formatRoute({ domain, kind: "tool", path: rest.join("/") });
}
