import { FULL_IMPACT } from "../ranking/tuning.ts";
import { indexIn } from "./segment.ts";

/** Cost of a step in a binary search, in steps of a linear scan. */
const LOOK_UP_COST = 8;

/** Postings of one query term in a segment. */
export interface PostingList {
  readonly documents: Uint32Array;
  readonly impacts: Uint16Array;
  readonly start: number;
  readonly end: number;
  /** The score for full impact. */
  readonly weight: number;
  readonly maxImpact: number;
}

/** Buffers for scores, reused between searches: all zero when unused. */
export class Scratch {
  scores = new Float64Array(0);
  /** Documents with a score; those that can still reach the result come first. */
  touched = new Uint32Array(0);

  reserve(documents: number): void {
    if (this.scores.length >= documents) return;
    this.scores = new Float64Array(documents);
    this.touched = new Uint32Array(documents);
  }
}

/**
 * Scores the documents of a segment that can still reach the result, and offers them. Processes lists from the
 * heaviest. Once the remaining lists together cannot reach the lowest score of the result, no new documents are added,
 * and only those that can still reach it are completed. Each score is summed in the order of `lists`, so that it does
 * not depend on what was pruned.
 */
export function scoreSegment(
  lists: readonly PostingList[],
  mask: Uint32Array | null,
  limit: number,
  scratch: Scratch,
  threshold: number,
  offer: (score: number, document: number) => void,
): void {
  const { scores, touched } = scratch;
  const bounds = restBounds(lists);
  let count = 0;
  let bar = threshold;
  let next = 0;
  // With many short lists, moving the bar would cost more than scoring, so move it only after as many postings.
  let sinceBar = 0;
  for (; next < lists.length && bounds[next]! >= bar; next++) {
    count = takeUp(lists[next]!, mask, scores, touched, count);
    sinceBar += lists[next]!.end - lists[next]!.start;
    if (count < limit || sinceBar < count || postingsFrom(lists, next + 1) <= count) continue;
    bar = Math.max(bar, kthLargest(scores, touched, count, limit));
    sinceBar = 0;
  }
  if (next < lists.length) bar = complete(lists, next, bounds, bar, limit, scratch, count);
  for (let at = 0; at < count; at++) {
    const document = touched[at]!;
    const score = scores[document]!;
    scores[document] = 0;
    if (score >= bar) offer(score, document);
  }
}

/** Upper bounds of the lists from `i` on, with a small margin for rounding. */
function restBounds(lists: readonly PostingList[]): number[] {
  const rest = new Array<number>(lists.length + 1).fill(0);
  for (let at = lists.length - 1; at >= 0; at--) {
    const bound = (lists[at]!.weight * lists[at]!.maxImpact) / FULL_IMPACT;
    rest[at] = rest[at + 1]! + bound * (1 + 1e-9);
  }
  return rest;
}

function postingsFrom(lists: readonly PostingList[], from: number): number {
  let postings = 0;
  for (let at = from; at < lists.length; at++) postings += lists[at]!.end - lists[at]!.start;
  return postings;
}

function takeUp(
  list: PostingList,
  mask: Uint32Array | null,
  scores: Float64Array,
  touched: Uint32Array,
  already: number,
): number {
  const { documents, impacts, end } = list;
  const unit = list.weight / FULL_IMPACT;
  let count = already;
  for (let at = list.start; at < end; at++) {
    const document = documents[at]!;
    if (mask !== null && ((mask[document >>> 5]! >>> (document & 31)) & 1) === 0) continue;
    const score = scores[document]!;
    if (score === 0) touched[count++] = document;
    scores[document] = score + unit * impacts[at]!;
  }
  return count;
}

/** Adds the lists from `from` on to the documents that can still reach the bar. Returns the bar, which may rise. */
function complete(
  lists: readonly PostingList[],
  from: number,
  rest: readonly number[],
  startBar: number,
  limit: number,
  scratch: Scratch,
  touchedCount: number,
): number {
  const { scores, touched } = scratch;
  let bar = startBar;
  let count = keepReaching(touched, touchedCount, scores, bar - rest[from]!);
  for (let next = from; next < lists.length; next++) {
    const list = lists[next]!;
    addTo(list, touched, count, scores);
    if (next + 1 === lists.length) break;
    if (count > 4 * limit) bar = Math.max(bar, kthLargest(scores, touched, count, limit));
    count = keepReaching(touched, count, scores, bar - rest[next + 1]!);
  }
  return bar;
}

/** Moves the documents with the needed score to the front, and counts them. */
function keepReaching(documents: Uint32Array, count: number, scores: Float64Array, needed: number): number {
  let reaching = 0;
  for (let at = 0; at < count; at++) {
    const document = documents[at]!;
    if (scores[document]! < needed) continue;
    documents[at] = documents[reaching]!;
    documents[reaching++] = document;
  }
  return reaching;
}

function addTo(list: PostingList, candidates: Uint32Array, count: number, scores: Float64Array): void {
  const { documents, impacts, start, end } = list;
  const unit = list.weight / FULL_IMPACT;
  const lookUps = count * LOOK_UP_COST * Math.log2(end - start + 1);
  if (lookUps < end - start) {
    for (let at = 0; at < count; at++) {
      const document = candidates[at]!;
      const index = indexIn(documents, start, end, document);
      if (index >= 0) scores[document]! += unit * impacts[index]!;
    }
    return;
  }
  // Documents below the bar get scores too, and stay below it.
  for (let at = start; at < end; at++) {
    const score = scores[documents[at]!]!;
    if (score > 0) scores[documents[at]!] = score + unit * impacts[at]!;
  }
}

/** The `rank`-th largest score of the first `count` listed documents; needs `count >= rank >= 1`. */
function kthLargest(scores: Float64Array, documents: Uint32Array, count: number, rank: number): number {
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

/** Restores the heap order (smallest at the root) below `from`. */
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

/** The best `limit` items so far, best first. `before` decides ties: true if `one` comes first. */
export class TopHits<T> {
  private readonly limit: number;
  private readonly before: (one: T, other: T) => boolean;
  readonly list: { readonly score: number; readonly item: T }[] = [];

  constructor(limit: number, before: (one: T, other: T) => boolean) {
    this.limit = limit;
    this.before = before;
  }

  /** The minimum score of a further item. */
  get threshold(): number {
    return this.list[this.limit - 1]?.score ?? Number.NEGATIVE_INFINITY;
  }

  offer(score: number, item: T): void {
    if (score < this.threshold) return;
    let low = 0;
    let high = this.list.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const hit = this.list[middle]!;
      if (score < hit.score || (score === hit.score && this.before(hit.item, item))) low = middle + 1;
      else high = middle;
    }
    this.list.splice(low, 0, { score, item });
    if (this.list.length > this.limit) this.list.pop();
  }
}
