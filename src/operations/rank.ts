import type { View } from "../access/view.ts";
import { conversationOf } from "../calls/call-environment.ts";
import type { Entry } from "../schema/entry.ts";
import { analyzeQuery, cutQuery } from "../search/analysis/analyze-query.ts";
import { type OtherLanguage, otherLanguage } from "../search/analysis/language-of.ts";
import { meaningsOf } from "../search/analysis/plain-need.ts";
import { splitNeeds } from "../search/analysis/split-needs.ts";
import { liftByPhrases } from "../search/learning/phrase-lift.ts";
import { nameSpans } from "../search/lexical/name-spans.ts";
import type { Explanation, SearchHit, SearchNote } from "../search/port/search-index.ts";
import {
  cutWhereRelevanceFalls,
  type RelevanceCutOptions,
} from "../search/ranking/cut-where-relevance-falls.ts";
import { rankByQuality } from "../search/ranking/quality.ts";
import { cutText } from "../util/cut-text.ts";
import { oncePer } from "../util/once-per.ts";
import type { AskInput } from "./ask-input.ts";
import { createNameTable } from "./name-table.ts";
import type { OperationContext } from "./operation.ts";
import { fillPlaces, rankSegments, type SearchTagged } from "./rank-segments.ts";

/** Hits of an answer whose caller names no limit, before it is cut where relevance falls off. */
export const DEFAULT_LIMIT = 10;
/** A discovered tool costs its definition on each later request, so fewer hits count than are shown. */
const DISCOVERED: RelevanceCutOptions = { share: 0.6 };
const QUERY_CHARS = 1_024;
const DOMAIN_SHARE = 0.7;
/** Bounds an answer whose size the domains decide, by `perDomain` or by segments. */
const MOST_HITS = 200;
const MOST_SEARCHED = 1_000;

export interface Ranking {
  /** Best first. */
  readonly entries: readonly Entry[];
  /** How many of them are worth showing. */
  readonly keep: number;
  /** Whether the query names at least one of them. */
  readonly named: boolean;
  /** Whether a domain's own segments decide how many there are. */
  readonly segmented: boolean;
  /** Entries that cannot be found by meaning yet; absent if that changed nothing. */
  readonly waiting?: number;
  /** Set if nothing was found and the catalog is written in another script. */
  readonly other?: OtherLanguage;
  /** Why each was found, by route, if requested. */
  readonly explanations: ReadonlyMap<string, Explanation>;
}

/** Ranks entries of all kinds together for one query. Entries that the query names come first. */
export async function rank(query: string, input: AskInput, context: OperationContext): Promise<Ranking> {
  const { view } = context;
  const { limit = DEFAULT_LIMIT } = input;
  const asked = cutText(query, QUERY_CHARS);
  const wanted = (entry: Entry) =>
    (!input.domain || entry.domain === input.domain) && (!input.kinds || input.kinds.includes(entry.kind));
  const { hits, how, waiting } = await searchFor(asked, input, context);
  const ranked = toEntries(hits, view);
  const names = namedEntries(asked, view);
  const named = inOrder(names, ranked, asked).filter(wanted);
  const segments = await segmentsOf(ranked, view, async (domain, tags, most) => {
    const members = { query: asked, limit: most, filter: { ...filterOf(input, view), domain, tags } };
    return toEntries(byQuality(await context.search.search(members), view), view);
  });
  const filled = fillPlaces(ranked, segments);
  const standOut = cutWhereRelevanceFalls(hits, { most: hits.length });
  const relevant = segments.size > 0 ? filled : toEntries(hits.slice(0, standOut), view);
  const others = withinQuota(filled, limit, new Set(relevant)).filter(
    ({ domain }, place) => place < limit || input.perDomain !== undefined || segments.has(domain),
  );
  const entries = [...new Set([...named, ...others])].filter(wanted);
  context.services.discovery.searched({
    conversation: conversationOf(context).conversation,
    routes: entries.map(({ route }) => route),
    ...how,
  });
  const descriptions = view.shown.values().map(({ description }) => description);
  const other = entries.length > 0 ? undefined : otherLanguage(asked, descriptions);
  return {
    ...(other && { other }),
    ...(waiting !== undefined && { waiting }),
    entries: limitPerDomain(entries, input.perDomain),
    keep: names.some(({ entry, meant }) => meant && wanted(entry))
      ? named.length
      : cutAfter(named.length, hits, context.discovers === undefined ? {} : DISCOVERED),
    named: named.length > 0,
    segmented: segments.size > 0,
    explanations: new Map(hits.flatMap(({ id, explanation }) => (explanation ? [[id, explanation]] : []))),
  };
}

interface Searched {
  /** Best first, by search, quality, phrases and past use. */
  readonly hits: readonly SearchHit[];
  /** How the search was made; empty if the index does not say. */
  readonly how: Partial<Omit<SearchNote, "waiting">>;
  readonly waiting?: number | undefined;
}

async function searchFor(asked: string, input: AskInput, context: OperationContext): Promise<Searched> {
  const { view, search, services } = context;
  let note: SearchNote | undefined;
  const found = await search.search({
    query: asked,
    note: (noted) => {
      note = noted;
    },
    limit: searchDepth(input, view),
    filter: filterOf(input, view),
    ...(input.explain && { explain: true }),
  });
  const phrased = await liftByPhrases(asked, byQuality(found, view), view.shown);
  const hits = (await services.learning?.lift(conversationOf(context), asked, phrased)) ?? phrased;
  const { waiting, ...how }: Partial<SearchNote> = note ?? {};
  return { hits, how, waiting };
}

function filterOf({ domain, kinds }: AskInput, { principal }: View) {
  return { scopes: principal.scopes, ...(domain && { domain }), ...(kinds && { kinds }) };
}

function byQuality(hits: readonly SearchHit[], { find }: View): readonly SearchHit[] {
  return rankByQuality(hits, (id) => find(id)?.metadata.quality_score);
}

function toEntries(hits: readonly SearchHit[], { find }: View): Entry[] {
  return hits
    .map(({ id }) => find(id))
    .filter((entry): entry is Entry => entry !== undefined && entry.visibility !== "hidden");
}

function searchDepth({ limit = DEFAULT_LIMIT, perDomain = 0, domain }: AskInput, { domains }: View): number {
  return Math.min(MOST_SEARCHED, 2 * Math.max(limit, perDomain * (domain ? 1 : domains.size)));
}

/** The hits of each found domain that has segments, in the order of those. */
async function segmentsOf(
  ranked: readonly Entry[],
  { domains }: View,
  search: SearchTagged,
): Promise<ReadonlyMap<string, readonly Entry[]>> {
  const lists = [...Map.groupBy(ranked, ({ domain }) => domain)].map(async ([name, found]) => {
    const config = domains.get(name)?.searchConfig;
    return config?.segments ? [[name, await rankSegments(name, config, found, search)] as const] : [];
  });
  return new Map((await Promise.all(lists)).flat());
}

/** How many hits to show: as many as the caller says, or its domains by their segments, or the default. */
export function countWanted({ limit, perDomain }: AskInput, rankings: readonly Ranking[]): number {
  const domainsDecide = perDomain !== undefined || rankings.some(({ segmented }) => segmented);
  return limit ?? (domainsDecide ? MOST_HITS : DEFAULT_LIMIT);
}

/** Entries that the query names are all shown. */
function cutAfter(namedCount: number, hits: readonly SearchHit[], options: RelevanceCutOptions): number {
  return Math.max(namedCount, cutWhereRelevanceFalls(hits, options));
}

/** The needs of a query, each to be ranked by itself. A name that is a sentence is not split. */
export function needsIn(query: string, view: View): string[] {
  const needs = splitNeeds(query);
  if (needs.length === 1) return needs;
  const named = new Set(needs.flatMap((need) => namedEntries(need, view)).map(({ entry }) => entry));
  return namedEntries(query, view).every(({ entry }) => named.has(entry)) ? needs : [query];
}

interface NamedEntry {
  readonly entry: Entry;
  /** How many letters of the query name it. */
  readonly length: number;
  /** Whether the query says nothing else, in the words of tools. */
  readonly meant: boolean;
}

/**
 * The shown entries that a query names: by name, op, route or alias, in any spelling. A name of one plain word
 * counts only if the query calls for it or has no other words, because such words are often not meant as names.
 */
function namedEntries(query: string, { shown }: View): NamedEntry[] {
  const names = namesOf(shown);
  const asked = cutQuery(query);
  const found = new Map<Entry, NamedEntry>();
  for (const reading of [asked, ...meaningsOf(asked)]) {
    const spans = nameSpans(analyzeQuery(reading), { mayHave: names.mayHave, has: names.has });
    for (const { key, sure, sureIfSame, words } of spans) {
      if (!sure && !sureIfSame && words < 2) continue;
      const meant = sure && reading !== asked;
      for (const entry of names.find(key)) {
        if (key.length > (found.get(entry)?.length ?? 0))
          found.set(entry, { entry, length: key.length, meant });
      }
    }
  }
  return [...found.values()];
}

const namesOf = oncePer(createNameTable);

/** Sorts named entries: exact spelling first, then longer names, then the order of search. */
function inOrder(named: readonly NamedEntry[], found: readonly Entry[], query: string): Entry[] {
  const place = new Map(found.map((entry, index) => [entry, index]));
  const isSpelt = ({ route, op, name, aliases }: Entry) =>
    [route, op, name, ...aliases].some((word) => query.includes(word));
  return named
    .map(({ entry, length }) => ({
      entry,
      length,
      spelt: Number(isSpelt(entry)),
      place: place.get(entry) ?? found.length,
    }))
    .sort((one, other) => other.spelt - one.spelt || other.length - one.length || one.place - other.place)
    .map(({ entry }) => entry);
}

/**
 * Moves hits above a domain's share behind those of other domains, so that none fills a page alone. What is not
 * relevant comes last, whatever its domain.
 */
function withinQuota(entries: readonly Entry[], limit: number, relevant: ReadonlySet<Entry>): Entry[] {
  const share = Math.max(1, Math.ceil(limit * DOMAIN_SHARE));
  const counts = new Map<string, number>();
  const count = ({ domain }: Entry) => {
    const next = (counts.get(domain) ?? 0) + 1;
    counts.set(domain, next);
    return next;
  };
  const {
    within = [],
    beyond = [],
    rest = [],
  } = Object.groupBy(entries, (entry) => {
    if (!relevant.has(entry)) return "rest";
    return count(entry) <= share ? "within" : "beyond";
  });
  return [...within, ...beyond, ...rest];
}

/** Merges rankings in turns, so that no query starves another. */
export function mergeRankings(rankings: readonly Ranking[], limit: number): Entry[] {
  const merged = new Set<Entry>();
  const longest = Math.max(0, ...rankings.map(({ entries }) => entries.length));
  for (let place = 0; place < longest && merged.size < limit; place++) {
    for (const { entries } of rankings) {
      const entry = entries[place];
      if (entry && merged.size < limit) merged.add(entry);
    }
  }
  return [...merged];
}

/** Fills the remaining room with entries that are often used together with those found. */
export function withRelated(
  entries: readonly Entry[],
  { limit = DEFAULT_LIMIT, perDomain }: AskInput,
  { view }: OperationContext,
): readonly Entry[] {
  const expanded = new Set(entries);
  for (const route of entries.flatMap((entry) => entry.related)) {
    if (expanded.size >= limit) break;
    const related = view.find(route);
    if (related && related.visibility !== "hidden") expanded.add(related);
  }
  return limitPerDomain([...expanded], perDomain);
}

function limitPerDomain(entries: readonly Entry[], perDomain: number | undefined): readonly Entry[] {
  if (!perDomain) return entries;
  const counts = new Map<string, number>();
  return entries.filter(({ domain }) => {
    const count = (counts.get(domain) ?? 0) + 1;
    counts.set(domain, count);
    return count <= perDomain;
  });
}
