import { LRUCache } from "lru-cache";
import type { Domain, Entry } from "../schema/entry.ts";
import type { Principal } from "../schema/principal.ts";
import { splitWords } from "../util/split-words.ts";

/** The part of a catalog that one principal may see. Operations get a View and nothing else. */
export interface View {
  readonly principal: Principal;
  readonly version: string;
  /** The same for principals who see the same. */
  readonly scopeKey: string;
  /** Domains that the principal may see something of. */
  readonly domains: ReadonlyMap<string, Domain>;
  /** Everything that may be run, hidden entries too. */
  readonly entries: readonly Entry[];
  /** What may be shown without having been unveiled. */
  readonly shown: readonly Entry[];
  /** Entry points of the domains that have them. */
  readonly entryPoints: ReadonlyMap<string, readonly Entry[]>;
  /** By route or op; else by its plain name, where no other shown entry has it. */
  find(address: string): Entry | undefined;
  /** Shown entries of exactly this name. None for one that has the marks of an address: it could pose as one. */
  byName(name: string): readonly Entry[];
  /** Shown entries whose name, op, route or alias has these words, in lower case: however it is spelt. */
  named(words: readonly string[]): readonly Entry[];
}

interface Snapshot {
  readonly version: string;
  readonly domains: ReadonlyMap<string, Domain>;
  readonly entries: readonly Entry[];
  find(address: string): Entry | undefined;
}

const ADDRESS_MARKS = /[.:/?#]/;

type Sight = Omit<View, "principal">;

/** Gives views of one catalog; principals with the same scopes share the work. */
export function createViews(catalog: Snapshot): (principal: Principal) => View {
  const sights = new LRUCache<string, Sight>({ max: 64 });
  return (principal) => {
    const key = JSON.stringify([...new Set(principal.scopes)].sort());
    const known = sights.get(key);
    if (known) return { ...known, principal };
    const made = createSight(catalog, principal, key);
    sights.set(key, made);
    return { ...made, principal };
  };
}

function createSight(catalog: Snapshot, principal: Principal, scopeKey: string): Sight {
  const entries = catalog.entries.filter((entry) => maySee(principal, entry));
  const shown = entries.filter((entry) => entry.visibility !== "hidden");
  const seenDomains = new Set(shown.map((entry) => entry.domain));
  let plainNames: Map<string, Entry[]> | undefined;
  let names: Map<string, Entry[]> | undefined;
  let beginnings: Set<string> | undefined;
  const byName = (name: string): readonly Entry[] => {
    if (ADDRESS_MARKS.test(name)) return [];
    plainNames ??= Map.groupBy(shown, (entry) => entry.name);
    return plainNames.get(name) ?? [];
  };
  return {
    version: catalog.version,
    scopeKey,
    domains: new Map([...catalog.domains].filter(([name]) => seenDomains.has(name))),
    entries,
    shown,
    entryPoints: Map.groupBy(
      shown.filter((entry) => entry.visibility === "entry"),
      (entry) => entry.domain,
    ),
    find: (address) => {
      const entry = catalog.find(address);
      if (entry) return maySee(principal, entry) ? entry : undefined;
      const sharing = byName(address);
      return sharing.length === 1 ? sharing[0] : undefined;
    },
    byName,
    named: (words) => {
      names ??= indexNames(shown);
      beginnings ??= new Set(names.keys().map((name) => name.split(" ", 1)[0] ?? ""));
      if (!beginnings.has(words[0] ?? "")) return [];
      return names.get(words.join(" ")) ?? [];
    },
  };
}

/** Decides on access: the principal needs every scope of the entry. */
function maySee(principal: Principal, entry: Entry): boolean {
  return entry.scopes.every((scope) => principal.scopes.includes(scope));
}

function indexNames(entries: readonly Entry[]): Map<string, Entry[]> {
  const names = new Map<string, Entry[]>();
  for (const entry of entries) {
    const keys = new Set([entry.name, entry.op, entry.route, ...entry.aliases].map(nameKey));
    for (const key of keys) {
      const sharing = names.get(key);
      if (sharing) sharing.push(entry);
      else names.set(key, [entry]);
    }
  }
  names.delete("");
  return names;
}

function nameKey(name: string): string {
  return splitWords(name).join(" ");
}
