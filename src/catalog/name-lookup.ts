import type { Entry } from "../schema/entry.ts";
import { lazy } from "../util/lazy.ts";

/** Finds routes by any name of an entry. */
export interface NameLookup {
  /** The route that a name, op, alias or route means within that domain. */
  route(name: string, domain: string): string | undefined;
  /** The routes of many names. Unknown names are left out. */
  routes(names: readonly string[], domain: string): readonly string[];
}

/** Resolves the names that definitions use for each other. A name in the same domain wins. */
export function createNameLookup(entries: readonly Entry[]): NameLookup {
  // Definitions of servers name each other rarely, and a large catalog has many names.
  const known = lazy(() => toNames(entries));
  const route = (name: string, domain: string) => {
    const { byAddress, byName } = known();
    return byAddress.get(name) ?? byName.get(nameKey(domain, name)) ?? byName.get(nameKey("", name));
  };
  return {
    route,
    routes: (names, domain) =>
      names.map((name) => route(name, domain)).filter((found) => found !== undefined),
  };
}

function toNames(entries: readonly Entry[]) {
  const byAddress = new Map<string, string>();
  const byName = new Map<string, string>();
  for (const entry of entries) {
    byAddress.set(entry.route, entry.route).set(entry.op, entry.route);
    for (const name of [entry.name, ...entry.aliases]) {
      for (const key of [nameKey(entry.domain, name), nameKey("", name)]) {
        if (!byName.has(key)) byName.set(key, entry.route);
      }
    }
  }
  return { byAddress, byName };
}

function nameKey(domain: string, name: string): string {
  return `${domain}\n${name}`;
}
