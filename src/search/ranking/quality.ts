import type { SearchHit } from "../port/search-index.ts";
import { bestFirst } from "./fusion.ts";

const NEUTRAL = 50;
/** The best quality raises a score by this share, the worst lowers it by as much: it decides between like matches. */
const INFLUENCE = 0.1;

/** Orders hits that match alike by quality, from 0 to 100. Hits without one count as 50. */
export function rankByQuality(
  hits: readonly SearchHit[],
  qualityOf: (id: string) => unknown,
): readonly SearchHit[] {
  let changed = false;
  const weighed = hits.map((hit) => {
    const quality = qualityOf(hit.id);
    if (typeof quality !== "number" || Number.isNaN(quality)) return hit;
    const share = Math.min(1, Math.max(-1, (quality - NEUTRAL) / NEUTRAL));
    changed ||= share !== 0;
    return { ...hit, score: hit.score * (1 + INFLUENCE * share) };
  });
  return changed ? weighed.sort(bestFirst) : hits;
}
