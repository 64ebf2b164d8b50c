import { memoizeByObject } from "../base/util/memoize-by-object.ts";
import { analyze } from "./analysis/analyze.ts";
import { analyzeQuery, cutQuery } from "./analysis/analyze-query.ts";
import { queryVariants } from "./analysis/rewrite-query.ts";
import { splitNeeds } from "./analysis/split-needs.ts";
import { type NamedThing, nameSpans, namesOf, nameTableOf } from "./lexical/names.ts";
import type { SearchHit } from "./port/search-index.ts";
import { cutWhereRelevanceFalls } from "./rank.ts";
import { PAGE } from "./ranking/tuning.ts";

/** The facts about an entry that decide its position on a page. */
export interface PagedEntry extends NamedThing {
  readonly domain: string;
  readonly kind: string;
}

/** An entry named in a query. */
export interface NamedEntry<E> {
  readonly entry: E;
  /** Number of letters in the query that name it. */
  readonly length: number;
  /** Whether the query names it and says nothing else, in the words of tools. */
  readonly meant: boolean;
}

export interface ArrangeRequest<E> {
  readonly query: string;
  /** Best first. */
  readonly hits: readonly SearchHit[];
  /** The visible entries of hits, in the same order. */
  toEntries(hits: readonly SearchHit[]): E[];
  readonly named: readonly NamedEntry<E>[];
  /** The entries of each domain with its own order. */
  readonly segments: ReadonlyMap<string, readonly E[]>;
  readonly limit: number;
  readonly perDomain: number | undefined;
}

/**
 * Stage 10: first the named entries, then the hits. Each domain's positions are filled from its own segments, and hits
 * above a domain's share move behind those of other domains.
 */
export function arrangePage<E extends PagedEntry>(request: ArrangeRequest<E>): { named: E[]; others: E[] } {
  const { query, hits, toEntries, segments, limit, perDomain } = request;
  const hitEntries = toEntries(hits);
  const filled = fillPlaces(hitEntries, segments);
  const standOut = cutWhereRelevanceFalls(hits, { most: hits.length });
  const relevant = segments.size > 0 ? filled : toEntries(hits.slice(0, standOut));
  const others = withinQuota(filled, limit, new Set(relevant)).filter(
    ({ domain }, place) => place < limit || perDomain !== undefined || segments.has(domain),
  );
  return { named: sortNamed(request.named, hitEntries, query), others };
}

/** Sorts named entries: exact spelling first, then longer names, then search order. */
function sortNamed<E extends PagedEntry>(
  named: readonly NamedEntry<E>[],
  found: readonly E[],
  query: string,
): E[] {
  const place = new Map(found.map((entry, index) => [entry, index]));
  return named
    .map(({ entry, length }) => ({
      entry,
      length,
      spelt: Number(namesOf(entry).some((name) => query.includes(name))),
      place: place.get(entry) ?? found.length,
    }))
    .sort((one, other) => other.spelt - one.spelt || other.length - one.length || one.place - other.place)
    .map(({ entry }) => entry);
}

/** Fills each domain's positions in a ranking from its own list; remaining entries of the lists go last. */
function fillPlaces<E extends PagedEntry>(
  ranked: readonly E[],
  lists: ReadonlyMap<string, readonly E[]>,
): readonly E[] {
  if (lists.size === 0) return ranked;
  const queues = new Map([...lists].map(([domain, list]) => [domain, [...list]]));
  const filled = ranked.flatMap((entry) => {
    const queue = queues.get(entry.domain);
    return queue ? (queue.shift() ?? []) : [entry];
  });
  return [...filled, ...[...queues.values()].flat()];
}

/** Moves hits above a domain's share behind those of other domains. Irrelevant hits always come last. */
function withinQuota<E extends PagedEntry>(
  entries: readonly E[],
  limit: number,
  relevant: ReadonlySet<E>,
): E[] {
  const share = Math.max(1, Math.ceil(limit * PAGE.domainShare));
  const within = new Set(
    limitPerDomain(
      entries.filter((entry) => relevant.has(entry)),
      share,
    ),
  );
  const beyond = entries.filter((entry) => relevant.has(entry) && !within.has(entry));
  return [...within, ...beyond, ...entries.filter((entry) => !relevant.has(entry))];
}

/** The first `most` entries of each domain, in order. */
export function limitPerDomain<E extends PagedEntry>(
  entries: readonly E[],
  most: number | undefined,
): readonly E[] {
  if (!most) return entries;
  const counts = new Map<string, number>();
  return entries.filter(({ domain }) => {
    const count = (counts.get(domain) ?? 0) + 1;
    counts.set(domain, count);
    return count <= most;
  });
}

/** The needs of a query, to rank separately. A name that is a sentence is not split. */
export function needsIn<E extends PagedEntry>(query: string, entries: readonly E[]): string[] {
  const needs = splitNeeds(query);
  if (needs.length === 1) return needs;
  const named = new Set(needs.flatMap((need) => namedEntries(need, entries)).map(({ entry }) => entry));
  return namedEntries(query, entries).every(({ entry }) => named.has(entry)) ? needs : [query];
}

/**
 * Entries named in a query: by name, op, route or alias, in any spelling. A name of one plain word counts only if the
 * query asks for it or has no other words, because such words are often not meant as names.
 */
export function namedEntries<E extends PagedEntry>(query: string, entries: readonly E[]): NamedEntry<E>[] {
  const names = nameTableOf(entries);
  const asked = cutQuery(query);
  const named = new Map<E, NamedEntry<E>>();
  for (const reading of [asked, ...queryVariants(asked)]) {
    for (const { key, sure, sureIfSame, words } of nameSpans(analyzeQuery(reading), names)) {
      if (!sure && !sureIfSame && words < 2) continue;
      const meant = sure && reading !== asked;
      for (const entry of names.find(key)) {
        if (key.length > (named.get(entry)?.length ?? 0))
          named.set(entry, { entry, length: key.length, meant });
      }
    }
  }
  return [...named.values()];
}

/** Stage 11: merges the rankings of several needs in turns, so that every need is represented. */
export function takeTurns<E>(rankings: readonly { readonly entries: readonly E[] }[], limit: number): E[] {
  const merged = new Set<E>();
  const places = rankings.map(() => 0);
  const longest = Math.max(0, ...rankings.map(({ entries }) => entries.length));
  for (let round = 0; round < longest && merged.size < limit; round++) {
    for (const [at, { entries }] of rankings.entries()) {
      // A hit that another need has placed does not count: take the next one.
      while (places[at]! < entries.length && merged.has(entries[places[at]!]!)) places[at]!++;
      const entry = entries[places[at]!];
      if (entry && merged.size < limit) merged.add(entry);
    }
  }
  return [...merged];
}

/** Stage 13: puts tools with the same name in other domains right behind a hit, even if they rank lower. */
export function withAlike<E extends PagedEntry>(hits: readonly E[], found: readonly E[], limit: number): E[] {
  const alike = Map.groupBy(found, alikeKey);
  const together = new Set<E>();
  for (const hit of hits) {
    together.add(hit);
    const key = alikeKey(hit);
    const others =
      key === undefined ? [] : (alike.get(key) ?? []).filter(({ domain }) => domain !== hit.domain);
    for (const other of others.slice(0, PAGE.maxAlike - 1)) together.add(other);
  }
  return [...together].slice(0, limit);
}

/** Equal for `create_issue` and `issue.create`. Undefined for names of one word ("search"), which say too little. */
export const alikeKey = memoizeByObject(({ kind, name }: PagedEntry): string | undefined => {
  const words = kind === "tool" ? analyze(name).filter(({ joined }) => !joined) : [];
  if (words.length < 2) return undefined;
  return words
    .map(({ text }) => text)
    .sort()
    .join(" ");
});
