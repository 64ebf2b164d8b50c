export interface VectorHit {
  readonly slot: number;
  readonly id: string;
  readonly score: number;
}

/** Keeps the best of what it is offered: a heap with the worst on top. */
export interface TopHits {
  /** Lower scores are not taken. */
  threshold(): number;
  offer(hit: VectorHit): void;
  /** Best first; equal scores in the order of their ids. Empties the heap. */
  take(): VectorHit[];
}

export function createTopHits(limit: number): TopHits {
  const heap: VectorHit[] = [];

  function sink(hit: VectorHit): void {
    let at = 0;
    while (true) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBetter(heap[child]!, heap[child + 1]!)) child++;
      if (!isBetter(hit, heap[child]!)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = hit;
  }

  function rise(hit: VectorHit): void {
    let at = heap.push(hit) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBetter(heap[parent]!, hit)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = hit;
  }

  return {
    threshold: () => (heap.length < limit ? Number.NEGATIVE_INFINITY : (heap[0]?.score ?? Infinity)),
    offer(hit) {
      if (heap.length < limit) rise(hit);
      else if (heap[0] !== undefined && isBetter(hit, heap[0])) sink(hit);
    },
    take: () => heap.splice(0).sort((left, right) => (isBetter(left, right) ? -1 : 1)),
  };
}

function isBetter(left: VectorHit, right: VectorHit): boolean {
  return left.score === right.score ? left.id < right.id : left.score > right.score;
}
