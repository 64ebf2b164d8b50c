/** The `rank`-th largest of the scores of the `count` first documents listed; needs `count >= rank >= 1`. */
export function kthLargest(
  scores: Float64Array,
  documents: Uint32Array,
  count: number,
  rank: number,
): number {
  const heap = new Float64Array(rank);
  for (let at = 0; at < rank; at++) heap[at] = scores[documents[at]!]!;
  for (let root = (rank >> 1) - 1; root >= 0; root--) sink(heap, root);
  for (let at = rank; at < count; at++) {
    const score = scores[documents[at]!]!;
    if (score <= heap[0]!) continue;
    heap[0] = score;
    sink(heap, 0);
  }
  return heap[0]!;
}

/** Restores the smallest-at-root order below `from`. */
function sink(heap: Float64Array, from: number): void {
  let at = from;
  const value = heap[at]!;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
    if (heap[child]! >= value) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = value;
}
