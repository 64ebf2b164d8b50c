/** A query that is nearer to nothing than this is about none of it. */
const LEAST_COSINE = 0.25;
const WHOLE_WORTH = 2;
/** Sharpens a clause's own list, so that its best few come through. */
const SHARPNESS = 4;

/**
 * Scores documents by their cosines with a query and its clauses. `cosines` has one row for the whole query, which
 * counts twice, and one for each clause; the documents are in the same order in all of them.
 */
export function blendCosines(cosines: readonly ArrayLike<number>[]): Float64Array {
  const scores = new Float64Array(cosines[0]?.length ?? 0);
  for (const [at, row] of cosines.entries()) {
    let best = 0;
    for (let place = 0; place < row.length; place++) best = Math.max(best, row[place]!);
    if (best < LEAST_COSINE) continue;
    for (let place = 0; place < row.length; place++) {
      const near = Math.max(0, row[place]! / best);
      scores[place]! += at === 0 ? WHOLE_WORTH * near : near ** SHARPNESS;
    }
  }
  return scores;
}
