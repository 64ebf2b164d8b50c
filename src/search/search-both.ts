import { splitClauses } from "./analysis/split-clauses.ts";
import { explainHit } from "./explain-hit.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { type ClauseRanking, rankClauses } from "./lexical/rank-clauses.ts";
import type { SearchHit, SearchRequest } from "./port/search-index.ts";
import { fuse, type Scored } from "./ranking/fusion.ts";
import { readNeed } from "./read-need.ts";
import { seenShare } from "./seen-share.ts";
import type { VectorSide } from "./vector-side.ts";

const MAX_LIMIT = 1_000;
/** Hits by words that take part in a blend. */
const BLEND_DEPTH = 100;

/** Searches by words and, where vectors are ready, blends what they find. */
export async function searchBoth(
  words: LexicalIndex,
  side: VectorSide | undefined,
  request: SearchRequest,
): Promise<readonly SearchHit[]> {
  const limit = Math.min(MAX_LIMIT, Math.max(0, Math.floor(request.limit) || 0));
  if (limit === 0) return [];
  const watch = startWatch();
  const need = await readNeed(request.query, side?.isReady ? side : undefined);
  const { query } = need;
  const vectors = side?.isReady && side.reads(query) ? await queryVectors(side, query) : undefined;
  const embedMs = watch();
  // Words only after the wait for vectors, so that both look at the same documents.
  const depth = vectors === undefined ? limit : Math.max(BLEND_DEPTH, limit);
  const ranking = rankClauses(words, need, request.filter, depth);
  const wordsMs = watch();
  if (side === undefined || vectors === undefined) {
    const waiting = side?.isReady === false && side.reason === undefined ? side.waitingCount : 0;
    request.note?.({ by: "words", wordsMs, ...(waiting > 0 && { waiting }) });
    return toHits(words, ranking, ranking.hits, request);
  }
  const found = ranking.hits.map((hit) => hit.id);
  const near = side.search(vectors, request.filter, found);
  const seen = seenShare(ranking.hits, ranking.whole.terms, (id) => words.postingsOf(id));
  const trust = side.fluency(query) * seen;
  const { hits, by } = fuse(ranking.hits, near, ranking.whole.sureName, trust);
  request.note?.({ by, wordsMs, vectorsMs: embedMs + watch() });
  return toHits(words, ranking, hits.slice(0, limit), request, near);
}

/** Each call gives the milliseconds since the last one. */
function startWatch(): () => number {
  let last = performance.now();
  return () => {
    const passed = performance.now() - last;
    last += passed;
    return passed;
  };
}

/** The vectors of a query and its clauses; none where the embedder fails, and then the words answer alone. */
async function queryVectors(side: VectorSide, query: string): Promise<Float32Array[] | undefined> {
  const clauses = splitClauses(query);
  try {
    return await side.embedQuery(clauses.length > 1 ? [query, ...clauses] : [query]);
  } catch {
    return undefined;
  }
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
