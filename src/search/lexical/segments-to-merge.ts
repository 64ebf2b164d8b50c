interface Sized {
  readonly liveCount: number;
  readonly segment: { readonly ids: { readonly size: number } };
}

/** This many segments of about the same size are merged: a document is rewritten only log times. */
const PER_TIER = 8;
const MAX_DEAD_SHARE = 0.3;

/** The segments that should become one now: the smallest of about one size, or one that is mostly dead. */
export function segmentsToMerge<T extends Sized>(segments: readonly T[]): readonly T[] {
  const tiers = new Map<number, T[]>();
  for (const live of segments) {
    const tier = Math.floor(Math.log(Math.max(1, live.liveCount)) / Math.log(PER_TIER));
    const alike = tiers.get(tier);
    if (alike === undefined) tiers.set(tier, [live]);
    else alike.push(live);
  }
  const full = [...tiers.keys()].filter((tier) => tiers.get(tier)!.length >= PER_TIER);
  if (full.length > 0) return tiers.get(Math.min(...full))!;
  return segments.filter((live) => live.liveCount < live.segment.ids.size * (1 - MAX_DEAD_SHARE)).slice(0, 1);
}
