import { LRUCache } from "lru-cache";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { field, fieldsOf } from "../../base/util/plain-object.ts";
import { nameTableOf } from "../../search/lexical/names.ts";
import { type Catalog, domainNamer } from "../catalog/catalog.ts";
import { type Domain, type Entry, knownStatus } from "../nouns/entry.ts";
import { parseJsonText } from "../nouns/json-form.ts";
import type { Principal } from "../nouns/principal.ts";

/** The part of a catalog that one principal may see. Operations get only a View. */
export interface View {
  readonly principal: Principal;
  /** Hash of exactly the content of the view. */
  readonly version: string;
  /** Equal for principals who see the same entries. */
  readonly scopeKey: string;
  /** Domains with at least one entry that the principal may see. */
  readonly domains: ReadonlyMap<string, Domain>;
  /** Domains whose server has not listed its tools yet. */
  readonly starting: ReadonlySet<string>;
  /** All entries that the principal may run, including hidden ones. */
  readonly entries: readonly Entry[];
  /** All entries that are not hidden. */
  readonly shown: readonly Entry[];
  /** The entry points of each domain. */
  readonly entryPoints: ReadonlyMap<string, readonly Entry[]>;
  /** Replaces an alias of a domain with its name, in an address or alone. */
  toNamed(address: string): string;
  /** Finds an entry by route or op, or by a plain name that only one shown entry has. */
  find(address: string): Entry | undefined;
  /** Shown entries with exactly this name. Empty if the name could be an address. */
  byName(name: string): readonly Entry[];
}

const ADDRESS_MARKS = /[.:/?#]/;

type ViewFields = Omit<View, "principal">;

/** Creates views of one catalog. Principals with the same scopes share one. */
export function createViews(catalog: Catalog): (principal: Principal) => View {
  const sights = new LRUCache<string, ViewFields>({ max: 64 });
  /** A call needs its view several times. A cached view counts only while the scopes are the same. */
  const views = new WeakMap<Principal, { readonly scopes: readonly string[]; readonly view: View }>();

  function viewOf(principal: Principal): View {
    const key = JSON.stringify([...new Set(principal.scopes)].sort());
    const cached = sights.get(key);
    if (cached) return { ...cached, principal };
    const sight = createSight(catalog, { ...principal, scopes: [...principal.scopes] }, key);
    sights.set(key, sight);
    return { ...sight, principal };
  }

  return (principal) => {
    const { scopes } = principal;
    const seen = views.get(principal);
    if (seen && areEqual(seen.scopes, scopes)) return seen.view;
    const view = viewOf(principal);
    views.set(principal, { scopes: [...scopes], view });
    return view;
  };
}

function areEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((scope, index) => scope === other[index]);
}

function createSight(catalog: Catalog, principal: Principal, scopeKey: string): ViewFields {
  const isSeen = (entry: Entry) => missingScopes(principal, entry).length === 0;
  const entries = catalog.entries.filter(isSeen);
  const shown = entries.filter((entry) => entry.visibility !== "hidden");
  const seenDomains = new Set(shown.map((entry) => entry.domain));
  const domains = new Map([...catalog.domains].filter(([name]) => seenDomains.has(name)));
  const seesAll = entries.length === catalog.entries.length && domains.size === catalog.domains.size;
  const byName = (name: string): readonly Entry[] => {
    if (ADDRESS_MARKS.test(name)) return [];
    return nameTableOf(shown)
      .named(name)
      .filter((entry) => entry.name === name);
  };
  return {
    version: seesAll ? catalog.version : catalog.versionOf([...domains.values()], entries),
    scopeKey,
    domains,
    starting: new Set(
      shown.filter((entry) => knownStatus(entry)?.state === "starting").map(({ domain }) => domain),
    ),
    entries,
    shown,
    entryPoints: Map.groupBy(
      shown.filter((entry) => entry.visibility === "entry"),
      (entry) => entry.domain,
    ),
    toNamed: domainNamer(domains),
    find: (address) => {
      const entry = catalog.find(address, isSeen);
      if (entry) return entry;
      const sharing = byName(address);
      return sharing.length === 1 ? sharing[0] : undefined;
    },
    byName,
  };
}

/** The scopes of an entry that a principal lacks. All are needed to see it. */
export function missingScopes(principal: Principal, entry: Entry): string[] {
  return entry.scopes.filter((scope) => !principal.scopes.includes(scope));
}

export interface Addressed {
  readonly entry: Entry;
  /** Params from the query string of the address. */
  readonly params?: Record<string, unknown>;
}

/** Finds the entry of an address: the whole address, or the part before a query string with params. */
export function resolveAddress(
  address: string,
  find: (address: string) => Entry | undefined,
): Addressed | undefined {
  const whole = find(address);
  if (whole) return { entry: whole };
  const mark = address.indexOf("?");
  const entry = mark < 0 ? undefined : find(address.slice(0, mark));
  if (!entry) return undefined;
  const query = new URLSearchParams(address.slice(mark + 1));
  return { entry, params: readTextParams(entry.inputSchema, query) };
}

/**
 * Converts params from text to the types of the schema. Types other than text are parsed as JSON; a list may have
 * commas or a repeated name. Does not validate.
 */
export function readTextParams(
  { properties = {} }: JsonSchema,
  sentPairs: Iterable<readonly [string, string]>,
): Record<string, unknown> {
  const params = [...Map.groupBy(sentPairs, ([name]) => name)].map(([name, pairs]) => {
    const { type = "string" } = fieldsOf(field(properties, name));
    const texts = pairs.map(([, text]) => text);
    if (type === "array") return [name, readList(texts)];
    return [name, type === "string" ? texts.at(-1) : parseJsonText(texts.at(-1) ?? "")];
  });
  return Object.fromEntries(params);
}

function readList(texts: readonly string[]): unknown {
  const [only = ""] = texts;
  const json = texts.length === 1 && only.startsWith("[") ? parseJsonText(only) : undefined;
  if (Array.isArray(json)) return json;
  return texts.flatMap((text) => text.split(",").map((part) => part.trim())).filter((part) => part !== "");
}
