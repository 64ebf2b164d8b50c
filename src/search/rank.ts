/**
 * How a hit gets its position: all stages in order. Their constants are in `ranking/tuning.ts`, in the same order.
 *
 *  1. The query is cut, split into needs (`analysis/split-needs`), rewritten in the words of tools
 *     (`analysis/rewrite-query`, {@link expandQuery} for other languages) and split into clauses
 *     (`analysis/split-needs`).
 *  2. Words (`analysis/analyze`) are weighted by rarity, and names in the query (`lexical/names`) more than all words
 *     (`lexical/weigh-query`). Documents are scored by field (`lexical/document-postings`, `lexical/score-segment`).
 *  3. The rankings of clauses join that of the whole query (`lexical/rank-clauses`).
 *  4. Vectors rank documents by their cosines with query and clauses (`blendCosines`). They count as far as their
 *     embedder knows the language and the matched text was embedded (`seenShare`).
 *  5. Both rankings are blended: the one whose best hits stand out more has more weight (`fuse`).
 *  6. Quality decides between similar scores ({@link rankByQuality}). Destructive hits go behind the others unless
 *     the query asks for them ({@link rankDestroyingLast}).
 *  7. Authors' phrases raise their entries (`learning/phrase-lift`).
 *  8. Past use for similar queries raises entries, as far as it was right before (`learning/lift-hits`).
 *  9. Entries that often follow the last call are raised a little (`liftExpected`).
 * 10. Entries named in the query come first, segments of a domain fill that domain's positions, and no domain fills
 *     the page alone (`arrangePage`).
 * 11. Needs of one query take turns (`takeTurns`).
 * 12. The page ends where relevance falls ({@link cutWhereRelevanceFalls}).
 * 13. Tools with the same name in other domains follow a hit (`withAlike`); related entries fill the remaining
 *     positions (`core/operations/rank`).
 *
 * Stages 1 to 5 run in {@link hybridSearch}, 6 to 9 in {@link refineHits}; 10 to 13 are in `arrange.ts`.
 */
import { cutQuery, type WordQuery } from "./analysis/analyze-query.ts";
import { rewriteQuery } from "./analysis/rewrite-query.ts";
import { queryParts } from "./analysis/split-needs.ts";
import { asksToDestroy } from "./analysis/tool-verbs.ts";
import { liftByPhrases, type Phrased } from "./learning/phrase-lift.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { type ClauseRanking, rankClauses } from "./lexical/rank-clauses.ts";
import { limitOf } from "./port/engine-input.ts";
import type { Explanation, SearchField, SearchHit, SearchRequest, TermScore } from "./port/search-index.ts";
import { bestFirst, fuse, type Scored, seenShare } from "./ranking/fusion.ts";
import { CUT, DESTROYING_SHARE, FIELD_RULES, QUALITY, VECTORS } from "./ranking/tuning.ts";
import type { VectorIndex } from "./vector-index.ts";
import type { Embedder } from "./vectors/embedder.ts";

/** Searches by words and, if vectors are ready, blends both rankings. */
export async function hybridSearch(
  words: LexicalIndex,
  side: VectorIndex | undefined,
  request: SearchRequest,
): Promise<readonly SearchHit[]> {
  const limit = limitOf(request);
  if (limit === 0) return [];
  const watch = startWatch();
  const embedder = side?.isReady ? side.embedder : undefined;
  const need = await expandQuery(request.query, embedder);
  const { query } = need;
  const asks = need.asksToDestroy === undefined ? {} : { asksToDestroy: need.asksToDestroy };
  const isRead = embedder !== undefined && (embedder.reads?.(query) ?? true);
  // Without vectors of the query, only words count.
  const vectors = isRead ? await side?.embedQuery(queryParts(query)).catch(() => undefined) : undefined;
  const embedMs = watch();
  // Rank words after waiting for vectors, so that both see the same documents.
  const depth = vectors === undefined ? limit : Math.max(VECTORS.depth, limit);
  const ranking = rankClauses(words, need, request.filter, depth);
  const wordsMs = watch();
  if (side === undefined || vectors === undefined) {
    const waiting = side?.isReady === false && side.reason === undefined ? side.waitingCount : 0;
    request.note?.({ by: "words", wordsMs, ...(waiting > 0 && { waiting }), ...asks });
    return toHits(words, ranking, ranking.hits, request);
  }
  const ids = ranking.hits.map((hit) => hit.id);
  const near = side.search(vectors, request.filter, ids);
  const seen = seenShare(ranking.hits, ranking.whole.terms, (id) => words.postingsOf(id));
  const trust = (side.embedder.fluency?.(query) ?? 1) * seen;
  const { hits, by } = fuse(ranking.hits, near, ranking.whole.sureName, trust);
  request.note?.({ by, wordsMs, vectorsMs: embedMs + watch(), ...asks });
  return toHits(words, ranking, hits.slice(0, limit), request, near);
}

/** Facts about entries for stages 6 to 9. */
export interface HitSignals {
  /** Quality of an entry, 0 to 100; any other value counts as neutral. */
  qualityOf(id: string): unknown;
  /** Whether an entry destroys something, and its name says so. */
  destroys?(id: string): boolean;
  /** Whether the query asks to destroy something; undefined if its language is unknown. */
  readonly asksToDestroy?: boolean | undefined;
  /** Entries with their authors' phrases. */
  readonly phrased: readonly Phrased[];
  /** Raises hits by past use and by what often comes next. */
  lift?(query: string, hits: readonly SearchHit[]): Promise<readonly SearchHit[]>;
}

/** Reorders the hits of an index by quality, authors' phrases and past use. */
export async function refineHits(
  query: string,
  hits: readonly SearchHit[],
  { qualityOf, destroys, asksToDestroy: asks, phrased, lift }: HitSignals,
): Promise<readonly SearchHit[]> {
  const byQuality = rankByQuality(hits, qualityOf);
  const safest = destroys && asks === false ? rankDestroyingLast(byQuality, destroys) : byQuality;
  const byPhrases = await liftByPhrases(query, safest, phrased);
  return lift === undefined ? byPhrases : lift(query, byPhrases);
}

/** Orders similar scores by quality, from 0 to 100. Hits without one count as 50. */
export function rankByQuality(
  hits: readonly SearchHit[],
  qualityOf: (id: string) => unknown,
): readonly SearchHit[] {
  let changed = false;
  const weighed = hits.map((hit) => {
    const quality = qualityOf(hit.id);
    if (typeof quality !== "number" || Number.isNaN(quality)) return hit;
    const share = Math.min(1, Math.max(-1, (quality - QUALITY.neutral) / QUALITY.neutral));
    changed ||= share !== 0;
    return { ...hit, score: hit.score * (1 + QUALITY.influence * share) };
  });
  return changed ? weighed.sort(bestFirst) : hits;
}

/** Moves destructive hits right behind the last other hit that stands out. Hits must be sorted best first. */
export function rankDestroyingLast(
  hits: readonly SearchHit[],
  destroys: (id: string) => boolean,
): readonly SearchHit[] {
  const first = hits.find(({ id }) => destroys(id));
  const standOut = hits.slice(0, cutWhereRelevanceFalls(hits, { most: hits.length }));
  const last = standOut.findLast(({ id }) => !destroys(id));
  if (!first || !last || first.score <= last.score) return hits;
  const share = (DESTROYING_SHARE * last.score) / first.score;
  return hits.map((hit) => (destroys(hit.id) ? { ...hit, score: hit.score * share } : hit)).sort(bestFirst);
}

export interface RelevanceCutOptions {
  /** Omits hits below this share of the way from the background to the best score. Lower values show more. */
  readonly share?: number;
  readonly most?: number;
}

/** The number of hits that stand out from the background, in a list sorted best first. */
export function cutWhereRelevanceFalls(
  hits: readonly { readonly score: number }[],
  { share = CUT.share, most = CUT.most }: RelevanceCutOptions = {},
): number {
  const best = hits[0]?.score ?? 0;
  if (best <= 0) return Math.min(hits.length, most);
  const background = Math.max(0, hits[CUT.backgroundPlace - 1]?.score ?? 0);
  const mark = Math.max(background + share * (best - background), CUT.least * best);
  const fall = hits.findIndex((hit) => hit.score < mark);
  return Math.min(most, fall < 0 ? hits.length : fall);
}

/** A query for search by words and by vectors, which need no verbs translated. */
export interface Need extends WordQuery {
  /** The query with the words of tools added. */
  readonly query: string;
  /** Whether it asks to destroy something; undefined if its language is unknown. */
  readonly asksToDestroy?: boolean;
}

/** Reads a query in the languages that the embedder knows. Must not throw: words still count. */
export async function expandQuery(
  asked: string,
  embedder: Pick<Embedder, "readForeign"> = {},
): Promise<Need> {
  const cut = cutQuery(asked);
  const query = rewriteQuery(cut);
  const read = await embedder.readForeign?.(cut).catch(() => undefined);
  if (read === undefined) {
    const isRead = embedder.readForeign !== undefined && !OTHER_LETTERS.test(cut);
    return { query, words: query, ...(isRead && { asksToDestroy: asksToDestroy(query) }) };
  }
  const { words: foreign, inVerbsOfTools } = read;
  if (inVerbsOfTools === undefined) return { query, words: query, foreign };
  const words = `${query} ${rewriteQuery(inVerbsOfTools)}`;
  return { query, words, foreign, asksToDestroy: asksToDestroy(words) };
}

const OTHER_LETTERS = /(?!\p{Script=Latin})\p{L}/u;

/** Each call returns the milliseconds since the previous one. */
function startWatch(): () => number {
  let last = performance.now();
  return () => {
    const passed = performance.now() - last;
    last += passed;
    return passed;
  };
}

function toHits(
  words: LexicalIndex,
  ranking: ClauseRanking,
  hits: readonly Scored[],
  request: SearchRequest,
  near: readonly Scored[] = [],
): readonly SearchHit[] {
  if (!request.explain) return hits;
  const nearest = near[0]?.score ?? 1;
  const nearness = new Map(near.map(({ id, score }) => [id, score / nearest]));
  return hits.map((hit) => ({
    ...hit,
    explanation: explainHit(words, ranking, hit.id, nearness.get(hit.id)),
  }));
}

/** Why a document was found. A term's score is exact; for a term in several fields, it is divided by their weights. */
function explainHit(
  index: LexicalIndex,
  { whole }: ClauseRanking,
  id: string,
  vector: number | undefined,
): Explanation {
  const terms: TermScore[] = [];
  const fields: Partial<Record<SearchField, number>> = {};
  let lexical = 0;
  let exactName = false;
  const postingOf = index.postingsOf(id);
  for (const term of whole.terms) {
    const posting = postingOf(term);
    if (posting === undefined) continue;
    const score = term.weight * posting.share;
    lexical += score;
    exactName ||= term.name !== undefined;
    const rules = term.name
      ? FIELD_RULES.slice(0, 1)
      : FIELD_RULES.filter((_, bit) => (posting.fields >> bit) & 1);
    const weights = rules.reduce((sum, rule) => sum + rule.weight, 0);
    for (const { field, weight } of rules) fields[field] = (fields[field] ?? 0) + (score * weight) / weights;
    terms.push({ term: term.label, score, fields: rules.map((rule) => rule.field) });
  }
  return { lexical, ...(vector !== undefined && { vector }), exactName, fields, terms };
}
