import { hash } from "node:crypto";
import { contentHash } from "../../base/util/content-hash.ts";
import { lazy } from "../../base/util/lazy.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import {
  type Domain,
  type Draft,
  domainOf,
  type Entry,
  type EntryDraft,
  type LazyDraft,
  type ToolEntry,
} from "../nouns/entry.ts";
import type { SourceContent } from "../nouns/source.ts";
import { catalogErrors, catalogInvalid, routeOfName } from "./catalog-errors.ts";
import { ingestEntry } from "./ingest-entry.ts";
import { createLazyEntry } from "./lazy-entry.ts";
import { type DerivedOp, opsFromNames } from "./op-name.ts";
import { opToRoute, parseRoute, plainToolOp, routeToOp } from "./route.ts";
import { guessLane, strongest } from "./tool-lane.ts";

/** An immutable snapshot of all entries. */
export interface Catalog {
  /** Content hash. The order of definitions does not change it. */
  readonly version: string;
  readonly domains: ReadonlyMap<string, Domain>;
  /** Sorted by route. */
  readonly entries: readonly Entry[];
  /** Finds by route, op or further address among `allowed` entries. Ignores a leading `@`, as in `@notes://…`. */
  find(address: string, allowed?: (entry: Entry) => boolean): Entry | undefined;
  /** The version of a catalog with only these. */
  versionOf(domains: readonly Domain[], entries: readonly Entry[]): string;
}

type CatalogContent = Pick<SourceContent, "domains" | "errors"> & { readonly drafts: readonly Draft[] };

const MENTION = /^@[a-z][a-z0-9+.-]*:\/\//i;

/**
 * Builds a snapshot of the content of all sources.
 *
 * @throws `CATALOG_INVALID` with every error in the definitions
 */
export function buildCatalog(content: CatalogContent): Catalog {
  const domains = new Map(content.domains.map((domain) => [domain.name, Object.freeze(domain)]));
  const inherited = new Map(
    content.domains.map(({ name, scopes, ask }) => [name, JSON.stringify([scopes, ask])]),
  );
  const derived = deriveOps(content.drafts);
  const completed = content.drafts.map((draft) =>
    toEntry(draft, domains.get(draft.domain), inherited.get(draft.domain) ?? "", derived(draft)),
  );
  const entries = completed.filter((entry) => typeof entry !== "string").sort(byRoute);
  const errors = [
    ...(content.errors ?? []),
    ...completed.filter((entry) => typeof entry === "string"),
    ...catalogErrors(content.domains, entries),
  ];
  if (errors.length > 0) throw catalogInvalid(errors);

  // An entry without references stays the same object and keeps its memoized values.
  const linked = entries.map((entry) =>
    entry.related.length === 0
      ? Object.freeze(entry)
      : Object.freeze({
          ...entry,
          related: entry.related.flatMap((name) => routeOfName(name, entry.domain, entries) ?? []),
        }),
  );
  const byOp = lazy(() => new Map(linked.map((entry) => [entry.op, entry])));
  const byFurther = new Map<string, Entry[]>();
  for (const entry of linked) {
    for (const address of entry.addresses ?? []) {
      byFurther.set(address, [...(byFurther.get(address) ?? []), entry]);
    }
  }
  const toNamed = domainNamer(domains);
  const find: Catalog["find"] = (text, allowed = () => true) => {
    const address = toNamed(MENTION.test(text) ? text.slice(1) : text);
    const entry = atRoute(linked, address) ?? byOp().get(address);
    return entry && allowed(entry) ? entry : byFurther.get(address)?.find(allowed);
  };

  return Object.freeze({
    version: versionOf(content.domains, linked),
    domains,
    entries: Object.freeze(linked),
    find,
    versionOf,
  });
}

/** Derives ops for drafts without an address, for all drafts of a domain together. */
function deriveOps(drafts: readonly Draft[]): (draft: Draft) => DerivedOp | undefined {
  const tools = Map.groupBy(drafts.filter(isTool), ({ domain }) => domain);
  const ops = new Map(
    [...tools].flatMap(([domain, all]) => {
      const names = all.filter(isUnaddressed).map(({ name }) => name);
      if (names.length === 0) return [];
      const declared = all.filter((tool) => !isUnaddressed(tool)).map((tool) => toAddress(tool));
      const taken = declared.flatMap((address) => (typeof address === "string" ? [] : address.op));
      return [[domain, opsFromNames(names, domain, new Set(taken))] as const];
    }),
  );
  return (draft) =>
    isTool(draft) && isUnaddressed(draft) ? ops.get(draft.domain)?.get(draft.name) : undefined;
}

type ToolDraft = Extract<EntryDraft, { kind: "tool" }>;

function isTool(draft: Draft): draft is ToolDraft {
  return draft.kind === "tool" && !("read" in draft);
}

function isUnaddressed({ op, route }: ToolDraft): boolean {
  return op === undefined && route === undefined;
}

/** Replaces an alias of a domain with its name, in an address or alone. */
export function domainNamer(domains: ReadonlyMap<string, Domain>): (address: string) => string {
  const names = new Map<string, string>();
  for (const { name, aliases = [] } of domains.values()) for (const alias of aliases) names.set(alias, name);
  if (names.size === 0) return (address) => address;
  return (address) => {
    const domain = domainOf(address);
    const name = domains.has(domain) ? undefined : names.get(domain);
    return name === undefined ? address : name + address.slice(domain.length);
  };
}

const entriesByDraft = new WeakMap<Draft, { readonly key: string; readonly entry: Entry | string }>();

/** Reuses entries of unchanged drafts: a change of one source leaves the drafts of all others alone. */
function toEntry(
  draft: Draft,
  domain: Domain | undefined,
  inherited: string,
  derived: DerivedOp | undefined,
): Entry | string {
  const key = derived ? `${inherited} ${derived.op} ${derived.addresses}` : inherited;
  const cached = entriesByDraft.get(draft);
  if (cached?.key === key) return cached.entry;
  const entry = "read" in draft ? toKeptEntry(draft, domain) : toWholeEntry(draft, domain, derived);
  entriesByDraft.set(draft, { key, entry });
  return entry;
}

function toWholeEntry(draft: EntryDraft, domain: Domain | undefined, derived?: DerivedOp): Entry | string {
  const completed = completeEntry(draft, domain, derived);
  return typeof completed === "string" ? completed : ingestEntry(completed);
}

/** The part of {@link createLazyEntry} that all tools of a domain share. */
const sharedIn = memoizeByObject((domain: Domain) => ({
  scopes: Object.freeze([...new Set(domain.scopes)].sort()),
  complete: (read: EntryDraft) => toWholeEntry(read, domain) as ToolEntry,
}));

function toKeptEntry(draft: LazyDraft, domain: Domain | undefined): Entry | string {
  const op = domain && plainToolOp(draft.route, domain.name);
  if (!domain || op === undefined) return toWholeEntry(draft.read(), domain);
  return createLazyEntry({ draft, op, ...sharedIn(domain) });
}

/** Binary search: building a map of a large catalog takes long. */
function atRoute(entries: readonly Entry[], route: string): Entry | undefined {
  let from = 0;
  let to = entries.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (entries[middle]!.route < route) from = middle + 1;
    else to = middle;
  }
  return entries[from]?.route === route ? entries[from] : undefined;
}

function byRoute(left: Entry, right: Entry): number {
  return left.route < right.route ? -1 : left.route > right.route ? 1 : 0;
}

/** Ignores functions, which canonical JSON leaves out. */
function versionOf(domains: readonly Domain[], entries: readonly Entry[]): string {
  const sortedDomains = [...domains].sort((left, right) => (left.name < right.name ? -1 : 1));
  const lines = [contentHash(JSON.parse(JSON.stringify(sortedDomains))), ...entries.map(hashOf)];
  return hash("sha256", lines.join("\n")).slice(0, 16);
}

function hashOf(entry: Entry): string {
  return entry.lazy ? `${entry.route} ${entry.lazy.digest}` : hashOfWhole(entry);
}

const hashOfWhole = memoizeByObject((entry: Entry) =>
  contentHash(JSON.parse(JSON.stringify(toHashed(entry)))).slice(0, 16),
);

/** The hash of the origin covers its whole definition: do not read the largest parts again. */
function toHashed(entry: Entry): object {
  if (!entry.origin) return entry;
  const { inputSchema: _, presentation: __, origin, ...rest } = entry;
  return { ...rest, origin: origin.hash };
}

/** Completes a draft with address, lane, merged scopes and default `ask`. A string says why it has no address. */
function completeEntry(
  draft: EntryDraft,
  domain: Domain | undefined,
  derived: DerivedOp | undefined,
): Entry | string {
  const address = toAddress(draft, derived);
  if (typeof address === "string") return address;
  const scopes = [...new Set([...(domain?.scopes ?? []), ...draft.scopes])].sort();
  if (draft.kind !== "tool") return { ...draft, ...address, scopes, lane: "read" };
  const { leastLane, ask = domain?.ask, ...tool } = draft;
  return {
    ...tool,
    ...address,
    scopes,
    ...laneOf(draft, address.op),
    ...(ask && { ask }),
  };
}

/** The declared lane, or a guess from the name. */
function laneOf(tool: ToolDraft, op: string): Pick<ToolEntry, "lane" | "isLaneGuessed"> {
  const { lane, leastLane = "read" } = tool;
  if (lane) return { lane: strongest(lane, leastLane) };
  const guess = guessLane(tellingName(tool, op), tool.description);
  const isLaneGuessed = !guess.isSure && tool.leastLane === undefined;
  return { lane: strongest(guess.lane, leastLane), ...(isLaneGuessed && { isLaneGuessed }) };
}

type EntryAddress = Pick<Entry, "route" | "op" | "addresses">;

function toAddress(draft: EntryDraft, derived?: DerivedOp): EntryAddress | string {
  const where = `domain ${draft.domain}, ${draft.kind} ${draft.name}`;
  const declaredOp = draft.kind === "tool" ? draft.op : undefined;
  if (draft.route !== undefined) {
    const route = parseRoute(draft.route);
    if (!route) return `${where}: ${draft.route} is not a route; write ${draft.domain}://${draft.kind}s/path`;
    if (route.kind !== draft.kind)
      return `${where}: is a ${draft.kind}, so its route goes under ${draft.kind}s/`;
    if (route.domain !== draft.domain) return `${where}: its route must begin with ${draft.domain}://`;
    const op = routeToOp(route);
    if (declaredOp !== undefined && declaredOp !== op) {
      return `${where}: its route spells the op ${op}, not ${declaredOp}; give one of the two`;
    }
    return { route: draft.route, op };
  }
  const op = declaredOp ?? derived?.op;
  const route = op && opToRoute(op, draft.domain);
  if (!op || !route || !parseRoute(route)) {
    return `${where}: no address can be made of this name; give a route, or an op that begins with "${draft.domain}."`;
  }
  return { route, op, ...(derived && { addresses: derived.addresses }) };
}

/** The last part of an author's address says more about the lane than a title such as "SQL Query". */
function tellingName(tool: ToolDraft, op: string): string {
  if (!/\s/.test(tool.name) || isUnaddressed(tool)) return tool.name;
  return op.split(".").at(-1) ?? tool.name;
}
