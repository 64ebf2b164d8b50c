/**
 * How a hit comes to its place: all stages in their order. Their constants are in `ranking/tuning.ts`, in the same
 * order.
 *
 *  1. The query is cut, split into needs (`analysis/split-needs`), rewritten in the words of tools
 *     (`analysis/rewrite-query`, {@link expandQuery} for other languages) and split into clauses
 *     (`analysis/split-needs`).
 *  2. Words (`analysis/analyze`) get weights by how rare they are, names in the query (`lexical/names`) more
 *     than all words (`lexical/weigh-query`), and documents are scored by field (`lexical/document-postings`,
 *     `lexical/score-segment`).
 *  3. The rankings of clauses join that of the whole query (`lexical/rank-clauses`).
 *  4. Vectors rank documents by their cosines with query and clauses (`blendCosines`). They are trusted as far as
 *     their embedder knows the language and the match lies in what was embedded (`seenShare`).
 *  5. Both are blended: the list that tells its best hits from its tenth has more say (`fuse`).
 *  6. Quality decides between hits that match alike ({@link rankByQuality}). Hits that destroy go behind the others
 *     unless the query asks for that ({@link rankDestroyingLast}).
 *  7. Authors' phrases raise their entries (`learning/phrase-lift`).
 *  8. Past use for like queries raises entries, as far as it was right before (`learning/lift-hits`).
 *  9. Entries that often follow the last call are raised a little (`liftExpected`).
 * 10. Entries that the query names come first, segments of a domain fill that domain's places, and no domain fills
 *     the page alone (`arrangePage`).
 * 11. Needs of one query take turns (`takeTurns`).
 * 12. The page ends where relevance falls ({@link cutWhereRelevanceFalls}).
 * 13. Tools of the same name in other domains stand beside a hit (`withAlike`); related entries fill what is left
 *     (`core/operations/rank`).
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

/** Searches by words and, where vectors are ready, blends what they find. */
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
  // Without vectors of the query, the words answer alone.
  const vectors = isRead ? await side?.embedQuery(queryParts(query)).catch(() => undefined) : undefined;
  const embedMs = watch();
  // Words only after the wait for vectors, so that both look at the same documents.
  const depth = vectors === undefined ? limit : Math.max(VECTORS.depth, limit);
  const ranking = rankClauses(words, need, request.filter, depth);
  const wordsMs = watch();
  if (side === undefined || vectors === undefined) {
    const waiting = side?.isReady === false && side.reason === undefined ? side.waitingCount : 0;
    request.note?.({ by: "words", wordsMs, ...(waiting > 0 && { waiting }), ...asks });
    return toHits(words, ranking, ranking.hits, request);
  }
  const found = ranking.hits.map((hit) => hit.id);
  const near = side.search(vectors, request.filter, found);
  const seen = seenShare(ranking.hits, ranking.whole.terms, (id) => words.postingsOf(id));
  const trust = (side.embedder.fluency?.(query) ?? 1) * seen;
  const { hits, by } = fuse(ranking.hits, near, ranking.whole.sureName, trust);
  request.note?.({ by, wordsMs, vectorsMs: embedMs + watch(), ...asks });
  return toHits(words, ranking, hits.slice(0, limit), request, near);
}

/** Signals about entries that stages 6 to 9 use. */
export interface HitSignals {
  /** Quality of an entry, 0 to 100; anything else counts as neutral. */
  qualityOf(id: string): unknown;
  /** Whether an entry destroys something, and says so in its name. */
  destroys?(id: string): boolean;
  /** Whether the query asks to destroy something; undefined if its language is not read. */
  readonly asksToDestroy?: boolean | undefined;
  /** Entries with the phrases of their authors. */
  readonly phrased: readonly Phrased[];
  /** Raises hits by past use and by what often comes next. */
  lift?(query: string, hits: readonly SearchHit[]): Promise<readonly SearchHit[]>;
}

/** Ranks the hits of an index by quality, authors' phrases and past use. */
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

/** Orders hits that match alike by quality, from 0 to 100. Hits without one count as 50. */
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

/** Puts hits that destroy right behind the last of the others that stands out. Hits come best first. */
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
  /** Hits below this share of the way from the background to the best score are left out: lower shows more. */
  readonly share?: number;
  readonly most?: number;
}

/** How many hits of a list, best first, to show: those that stand out from the background. */
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

/** A query as it is searched by words and by vectors, which need no verbs translated. */
export interface Need extends WordQuery {
  /** With what it means in the words of tools beside its own. */
  readonly query: string;
  /** Whether it asks to destroy something; undefined if its language is not read. */
  readonly asksToDestroy?: boolean;
}

/** Reads a query in the languages that the embedder knows. Must not throw: its words still count. */
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

/** Each call gives the milliseconds since the last one. */
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

/**
 * Why a document was found. A term's score is exact; where the term stands in several fields, its score is
 * shared out among them by their weights.
 */
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
