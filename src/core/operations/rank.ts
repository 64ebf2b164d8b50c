import { cutText } from "../../base/util/cut-text.ts";
import { type OtherLanguage, otherLanguage } from "../../search/analysis/language-of.ts";
import { namesDestruction } from "../../search/analysis/tool-verbs.ts";
import { arrangePage, limitPerDomain, namedEntries } from "../../search/arrange.ts";
import type { Explanation, SearchHit, SearchNote } from "../../search/port/search-index.ts";
import { cutWhereRelevanceFalls, rankByQuality, refineHits } from "../../search/rank.ts";
import { CUT, PAGE, QUERY } from "../../search/ranking/tuning.ts";
import type { View } from "../access/view.ts";
import { conversationOf } from "../calls/run-entry.ts";
import type { Entry } from "../nouns/entry.ts";
import { readSegmentFilter, type SearchConfig, segmentTag } from "../nouns/search-config.ts";
import type { AskInput } from "./fit-ask.ts";
import type { OperationContext } from "./operation.ts";

export interface RankedEntries {
  /** Best first. */
  readonly entries: readonly Entry[];
  /** How many to show. */
  readonly keep: number;
  /** Whether the query names at least one of them. */
  readonly named: boolean;
  /** Whether segments of a domain decide how many to show. */
  readonly segmented: boolean;
  /** Entries that vectors cannot find yet. Absent if that made no difference. */
  readonly waiting?: number;
  /** Set if a query in the catalog's language may find more. */
  readonly other?: OtherLanguage;
  /** Why each entry was found, by route, if requested. */
  readonly explanations: ReadonlyMap<string, Explanation>;
}

/**
 * Ranks entries of all kinds for one query. Entries named in the query come first. `search/rank.ts` lists the stages;
 * this function hands them the caller's View.
 */
export async function rank(
  query: string,
  input: AskInput,
  context: OperationContext,
): Promise<RankedEntries> {
  const { view } = context;
  const { limit = PAGE.defaultLimit, perDomain } = input;
  const asked = cutText(query, QUERY.maxLength);
  const isWanted = (entry: Entry) =>
    (!input.domain || entry.domain === input.domain) && (!input.kinds || input.kinds.includes(entry.kind));
  const { hits, how, waiting } = await searchFor(asked, input, context);
  const segments = await segmentsOf(toEntries(hits, view), view, async (domain, tag, most) => {
    const filter = { ...filterOf(input, view), domain, tags: [tag] };
    const members = await context.search.search({ query: asked, limit: most, filter });
    return toEntries(rankByQuality(members, qualityIn(view)), view);
  });
  const names = namedEntries(asked, view.shown);
  const page = arrangePage({
    query: asked,
    hits,
    toEntries: (some) => toEntries(some, view),
    named: names,
    segments,
    limit,
    perDomain,
  });
  const named = page.named.filter(isWanted);
  const entries = [...new Set([...named, ...page.others])].filter(isWanted);
  context.services.discovery.searched({
    conversation: conversationOf(context).conversation,
    routes: entries.map(({ route }) => route),
    ...how,
  });
  const descriptions = view.shown.values().map(({ description }) => description);
  const other = named.length > 0 ? undefined : otherLanguage(asked, descriptions, entries.length > 0);
  const cut = context.discovers === undefined ? {} : { share: CUT.discoveredShare };
  return {
    ...(other && { other }),
    ...(waiting !== undefined && { waiting }),
    entries: limitPerDomain(entries, perDomain),
    // Entries that the query names are all shown.
    keep: names.some(({ entry, meant }) => meant && isWanted(entry))
      ? named.length
      : Math.max(named.length, cutWhereRelevanceFalls(hits, cut)),
    named: named.length > 0,
    segmented: segments.size > 0,
    explanations: new Map(hits.flatMap(({ id, explanation }) => (explanation ? [[id, explanation]] : []))),
  };
}

/** Hits, best first, by search, quality, phrases and past use. `how` is empty if the index reports nothing. */
async function searchFor(asked: string, input: AskInput, context: OperationContext) {
  const { view, search, services } = context;
  let note: SearchNote | undefined;
  const results = await search.search({
    query: asked,
    note: (noted) => {
      note = noted;
    },
    limit: searchDepth(input, view),
    filter: filterOf(input, view),
    ...(input.explain && { explain: true }),
  });
  const { learning } = services;
  const { waiting, asksToDestroy, ...how }: Partial<SearchNote> = note ?? {};
  const hits = await refineHits(asked, results, {
    qualityOf: qualityIn(view),
    destroys: destroysIn(view),
    asksToDestroy,
    phrased: view.shown,
    ...(learning && { lift: (text, some) => learning.lift(conversationOf(context), text, some) }),
  });
  return { hits, how, waiting };
}

function filterOf({ domain, kinds }: AskInput, { principal }: View) {
  return { scopes: principal.scopes, ...(domain && { domain }), ...(kinds && { kinds }) };
}

function qualityIn({ find }: View): (id: string) => unknown {
  return (id) => find(id)?.metadata.quality_score;
}

/** Servers may mark all their tools destructive, so the name must agree. */
function destroysIn({ find }: View): (id: string) => boolean {
  return (id) => {
    const entry = find(id);
    return entry?.lane === "destructive" && namesDestruction(entry.name);
  };
}

function toEntries(hits: readonly SearchHit[], { find }: View): Entry[] {
  return hits.flatMap(({ id }) => find(id) ?? []).filter(({ visibility }) => visibility !== "hidden");
}

function searchDepth(
  { limit = PAGE.defaultLimit, perDomain = 0, domain }: AskInput,
  { domains }: View,
): number {
  return Math.min(PAGE.maxSearched, 2 * Math.max(limit, perDomain * (domain ? 1 : domains.size)));
}

/** Hits of each found domain with segments, in the order of the segments. */
async function segmentsOf(
  ranked: readonly Entry[],
  { domains }: View,
  search: SearchTagged,
): Promise<ReadonlyMap<string, readonly Entry[]>> {
  const lists = [...Map.groupBy(ranked, ({ domain }) => domain)].map(async ([name, entries]) => {
    const segments = domains.get(name)?.searchConfig?.segments;
    return segments ? [[name, await rankSegments(name, segments, entries, search)] as const] : [];
  });
  return new Map((await Promise.all(lists)).flat());
}

/** How many hits to show: the caller's number, or by the segments of the domains, or the default. */
export function countWanted(
  { limit, perDomain, queries = [] }: Pick<AskInput, "limit" | "perDomain" | "queries">,
  rankings: readonly RankedEntries[],
): number {
  const domainsDecide = perDomain !== undefined || rankings.some(({ segmented }) => segmented);
  // The best hit of a need may be a document that another need found, too.
  const most = Math.max(PAGE.defaultLimit, PAGE.leastOfNeed * queries.length);
  return limit ?? (domainsDecide ? PAGE.maxHits : most);
}

/** Fills the remaining positions with entries that are often used with those found. */
export function withRelated(
  entries: readonly Entry[],
  { limit = PAGE.defaultLimit, perDomain }: AskInput,
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

/** Searches the entries of one domain with this tag. */
type SearchTagged = (domain: string, tag: string, limit: number) => Promise<Entry[]>;

/**
 * The hits of a domain in the order of its search config: first tools, then each segment, searched separately up to its
 * limit, then documents outside all segments.
 */
async function rankSegments(
  domain: string,
  segments: NonNullable<SearchConfig["segments"]>,
  found: readonly Entry[],
  search: SearchTagged,
): Promise<Entry[]> {
  const ordered = segments
    .toSorted((one, other) => one.priority - other.priority)
    .flatMap(({ filter, limit }) => {
      const read = readSegmentFilter(filter);
      return read ? [{ ...read, limit }] : [];
    });
  const members = await Promise.all(
    ordered.map(({ key, value, limit }) => search(domain, segmentTag(key, value), limit)),
  );
  const isMember = ({ metadata }: Entry) =>
    ordered.some(({ key, value }) => Object.hasOwn(metadata, key) && String(metadata[key]) === value);
  const others = found.filter((entry) => !isMember(entry));
  return [
    ...new Set([
      ...others.filter(({ kind }) => kind !== "resource"),
      ...members.flat(),
      ...others.filter(({ kind }) => kind === "resource"),
    ]),
  ];
}
