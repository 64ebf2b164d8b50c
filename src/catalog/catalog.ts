import { hash } from "node:crypto";
import type { Domain, Draft, Entry, EntryDraft, KeptDraft, ToolEntry } from "../schema/entry.ts";
import { problem } from "../schema/problem.ts";
import type { SourceContent } from "../schema/source.ts";
import { contentHash } from "../util/content-hash.ts";
import { lazy } from "../util/lazy.ts";
import { oncePer } from "../util/once-per.ts";
import { catalogErrors } from "./catalog-errors.ts";
import { completeEntry } from "./complete-entry.ts";
import { ingestEntry } from "./ingest-entry.ts";
import { KeptEntry } from "./kept-entry.ts";
import { createNameLookup } from "./name-lookup.ts";
import { plainToolOp } from "./route.ts";

/** An immutable snapshot of all entries. A change builds the next one. */
export interface Catalog {
  /** Content hash. The same definitions in another order have the same version. */
  readonly version: string;
  readonly domains: ReadonlyMap<string, Domain>;
  /** Sorted by route. */
  readonly entries: readonly Entry[];
  /**
   * By route, op or further address; a leading `@`, as in `@notes://…`, is ignored. Entries that are not `allowed`
   * take no part.
   */
  find(address: string, allowed?: (entry: Entry) => boolean): Entry | undefined;
  /** The version of a catalog that has only these. */
  versionOf(domains: readonly Domain[], entries: readonly Entry[]): string;
}

/** Everything in a catalog. */
type CatalogContent = Pick<SourceContent, "domains" | "errors"> & { readonly drafts: readonly Draft[] };

const MENTION = /^@[a-z][a-z0-9+.-]*:\/\//i;

/**
 * Builds a snapshot of what sources yield.
 *
 * @throws `CATALOG_INVALID` with every error in the definitions
 */
export function buildCatalog(content: CatalogContent): Catalog {
  const domains = new Map(content.domains.map((domain) => [domain.name, Object.freeze(domain)]));
  const scopes = new Map(content.domains.map((domain) => [domain.name, JSON.stringify(domain.scopes)]));
  const completed = content.drafts.map((draft) =>
    toEntry(draft, domains.get(draft.domain), scopes.get(draft.domain) ?? ""),
  );
  const entries = completed.filter((entry) => typeof entry !== "string").sort(byRoute);
  const lookup = createNameLookup(entries);
  const errors = [
    ...(content.errors ?? []),
    ...completed.filter((entry) => typeof entry === "string"),
    ...catalogErrors(content.domains, entries, lookup),
  ];
  if (errors.length > 0) {
    const list = errors.map((error) => `- ${error}`).join("\n");
    const problems = errors.length === 1 ? "1 problem" : `${errors.length} problems`;
    throw problem("CATALOG_INVALID", { problems, list }, { errors });
  }

  // An entry without references stays the same object, and keeps what was computed for it.
  const linked = entries.map((entry) =>
    entry.related.length === 0
      ? Object.freeze(entry)
      : Object.freeze({ ...entry, related: lookup.routes(entry.related, entry.domain) }),
  );
  const byOp = lazy(() => new Map(linked.map((entry) => [entry.op, entry])));
  const byFurther = new Map<string, Entry[]>();
  for (const entry of linked) {
    for (const address of entry.addresses ?? []) {
      byFurther.set(address, [...(byFurther.get(address) ?? []), entry]);
    }
  }
  const find: Catalog["find"] = (given, allowed = () => true) => {
    const address = MENTION.test(given) ? given.slice(1) : given;
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

const known = new WeakMap<Draft, { readonly scopes: string; readonly entry: Entry | string }>();

/** Entries of unchanged drafts are reused, because a change of one source leaves the others' drafts alone. */
function toEntry(draft: Draft, domain: Domain | undefined, scopes: string): Entry | string {
  const made = known.get(draft);
  if (made && made.scopes === scopes) return made.entry;
  const entry = "read" in draft ? toKeptEntry(draft, domain) : toWholeEntry(draft, domain);
  known.set(draft, { scopes, entry });
  return entry;
}

function toWholeEntry(draft: EntryDraft, domain: Domain | undefined): Entry | string {
  const completed = completeEntry(draft, domain);
  return typeof completed === "string" ? completed : ingestEntry(completed);
}

/** The part of {@link KeptEntry} that all tools of a domain share. */
const sharedIn = oncePer((domain: Domain) => ({
  scopes: Object.freeze([...new Set(domain.scopes)].sort()),
  complete: (read: EntryDraft) => toWholeEntry(read, domain) as ToolEntry,
}));

function toKeptEntry(draft: KeptDraft, domain: Domain | undefined): Entry | string {
  const op = domain && plainToolOp(draft.route, domain.name);
  if (!domain || op === undefined) return toWholeEntry(draft.read(), domain);
  return new KeptEntry({ draft, op, ...sharedIn(domain) });
}

/** Searches the sorted entries, because a table of a large catalog takes long to make. */
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

/** Ignores functions: canonical JSON leaves them out. */
function versionOf(domains: readonly Domain[], entries: readonly Entry[]): string {
  const sortedDomains = [...domains].sort((left, right) => (left.name < right.name ? -1 : 1));
  const lines = [contentHash(JSON.parse(JSON.stringify(sortedDomains))), ...entries.map(hashOf)];
  return hash("sha256", lines.join("\n")).slice(0, 16);
}

function hashOf(entry: Entry): string {
  return entry.kept ? `${entry.route} ${entry.kept.digest}` : hashOfWhole(entry);
}

const hashOfWhole = oncePer((entry: Entry) =>
  contentHash(JSON.parse(JSON.stringify(toHashed(entry)))).slice(0, 16),
);

/** The origin's hash covers its whole definition, whose largest parts need not be read again. */
function toHashed(entry: Entry): object {
  if (!entry.origin) return entry;
  const { inputSchema: _, presentation: __, origin, ...rest } = entry;
  return { ...rest, origin: origin.hash };
}
