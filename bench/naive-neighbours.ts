import type { SearchHit } from "../src/search/port/search-index.ts";

/** Uses as plain nearest neighbours: the reference that learning is compared with. */
export interface NaiveNeighbours {
  add(vector: Float32Array, route: string): void;
  /** Adds the squared cosines of the nearest uses to search's scores. */
  rank(vector: Float32Array, hits: readonly SearchHit[]): string[];
}

const NEIGHBOURS = 8;

export function createNaiveNeighbours(): NaiveNeighbours {
  const uses: { readonly vector: Float32Array; readonly route: string }[] = [];
  return {
    add: (vector, route) => uses.push({ vector, route }),
    rank: (vector, hits) => {
      const best = hits[0]?.score || 1;
      const scores = new Map(hits.map(({ id, score }) => [id, score / best]));
      const nearest = uses
        .map((use) => ({ route: use.route, cosine: cosine(use.vector, vector) }))
        .sort((one, other) => other.cosine - one.cosine)
        .slice(0, NEIGHBOURS);
      for (const { route, cosine: near } of nearest)
        scores.set(route, (scores.get(route) ?? 0) + near * near);
      return [...scores].sort(([, one], [, other]) => other - one).map(([route]) => route);
    },
  };
}

function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0);
}
