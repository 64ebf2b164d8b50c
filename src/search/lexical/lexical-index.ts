import type { QueryWords } from "../analysis/analyze-query.ts";
import type { SearchDocument, SearchFilter } from "../port/search-index.ts";
import { FULL_IMPACT } from "../ranking/tuning.ts";
import { PostingMaker } from "./document-postings.ts";
import { filterKey, LiveSegment } from "./live-segment.ts";
import { mergeSegments } from "./merge-segments.ts";
import { hashText } from "./names.ts";
import { type PostingList, Scratch, scoreSegment, TopHits } from "./score-segment.ts";
import { indexIn, type Segment } from "./segment.ts";
import { SegmentBuilder } from "./segment-builder.ts";
import { type QueryTerm, type TermEntries, type Weighing, weighQuery } from "./weigh-query.ts";

export interface LexicalHit {
  /** Names the document until the index changes; `idOf` gives its id. */
  readonly key: number;
  readonly score: number;
}

export interface Ranking extends Weighing {
  /** Best first, ties by id. */
  readonly hits: readonly LexicalHit[];
}

interface TermMatches {
  readonly live: LiveSegment;
  readonly document: number;
}

/** Documents of one put that become one segment. */
const MAX_BATCH = 8_192;
/** Terms that are remembered from one batch to the next. */
export const MAX_KNOWN = 262_144;
/** Documents analysed between two turns of the event loop. */
const PUT_STEP = 256;
/**
 * From this many segments on, puts merge small ones themselves, a piece each. Merges in the background come sooner, unless
 * puts follow each other without a pause.
 */
const MAX_SEGMENTS = 24;
/** Puts merge at most this many documents. */
const INLINE_MERGE = 256;
/** The piece of a merge that one put does, in postings: about a tenth of a millisecond. */
const PUT_MERGE_STEP = 4_096;
/** Terms that small puts remember from one to the next. */
const MAX_FEW = 16_384;

/** The words of documents in immutable segments. What it answers never depends on how it came to its state. */
export class LexicalIndex {
  private segments: LiveSegment[] = [];
  private readonly scratch = new Scratch();
  private maker: WeakRef<PostingMaker> | undefined;
  private smallMaker = new PostingMaker();
  /** Segments that merges in progress read: those alone may replace them. */
  private readonly merging = new Set<LiveSegment>();
  /** The merge that puts do, until it is done. */
  private smallMerge: Generator<void, void> | undefined;

  get size(): number {
    return this.segments.reduce((sum, live) => sum + live.liveCount, 0);
  }

  has(id: string): boolean {
    return this.segments.some((live) => live.find(id) >= 0);
  }

  /**
   * Adds documents, replacing those with the same id. Hidden ones are only taken away. In steps: between them
   * searches go on, and find the documents as they were.
   */
  *put(documents: readonly SearchDocument[]): Generator<void, void> {
    for (const batch of batchesOf(documents)) {
      const builder = new SegmentBuilder(this.makerFor(batch.length));
      for (const document of batch) {
        if (document.visibility === "hidden") continue;
        builder.add(document);
        if (builder.size % PUT_STEP === 0) yield;
      }
      const segment = builder.size < PUT_STEP ? runToEnd(builder.finish()) : yield* builder.finish();
      this.take(batch, segment);
    }
  }

  /** Puts a batch whose segment was made elsewhere. */
  take(batch: readonly SearchDocument[], segment: Segment): void {
    this.drop(batch.map((document) => document.id));
    if (segment.ids.size > 0) this.segments.push(new LiveSegment(segment));
    this.mergeSmall();
  }

  /** A maker that knows the words of large puts before this one, until their memory is needed. */
  private makerFor(documents: number): PostingMaker {
    if (documents < PUT_STEP) {
      if (this.smallMaker.terms.length > MAX_FEW) this.smallMaker = new PostingMaker();
      return this.smallMaker;
    }
    const known = this.maker?.deref();
    if (known !== undefined && known.terms.length <= MAX_KNOWN) return known;
    const fresh = new PostingMaker();
    this.maker = new WeakRef(fresh);
    return fresh;
  }

  drop(ids: readonly string[]): void {
    const isMany = ids.length >= PUT_STEP;
    for (const id of ids) {
      const hash = isMany ? hashText(id) : 0;
      for (const live of this.segments) {
        if (isMany && !live.mayHaveId(hash)) continue;
        const document = live.find(id);
        if (document >= 0) live.bury(document);
      }
    }
    this.segments = this.segments.filter((live) => live.liveCount > 0 || this.merging.has(live));
  }

  /**
   * The best documents for the words of one query or clause. Rankings of one filter may share `entries` until the
   * index changes.
   */
  rank(words: QueryWords, filter: SearchFilter, limit: number, entries?: TermEntries): Ranking {
    const scopesKey = filterKey({ scopes: filter.scopes });
    const seen = this.segments.map((live) => live.seenBy(filter.scopes, scopesKey));
    const weighing = weighQuery(words, seen, entries);
    const top = new TopHits<TermMatches>(limit, listedFirst);
    const key = filterKey(filter);
    this.segments.forEach((live, place) => {
      const lists = postingLists(live, place, weighing.terms);
      if (lists.length === 0 || limit === 0) return;
      this.scratch.reserve(live.segment.ids.size);
      const mask = live.maskFor(filter, key);
      scoreSegment(lists, mask, limit, this.scratch, top.threshold, (score, document) =>
        top.offer(score, { live, document }),
      );
    });
    const bases = this.bases();
    const hits = top.list().map(({ score, item }) => ({ key: bases.get(item.live)! + item.document, score }));
    return { ...weighing, hits };
  }

  idOf(key: number): string {
    let place = key;
    for (const { segment } of this.segments) {
      if (place < segment.ids.size) return segment.ids.get(place);
      place -= segment.ids.size;
    }
    return "";
  }

  /** The postings of a document by term: what each is worth before the term's weight, and where the term stands. */
  postingsOf(id: string): (term: QueryTerm) => { share: number; fields: number } | undefined {
    const place = this.segments.findIndex((live) => live.find(id) >= 0);
    const live = this.segments[place];
    const document = live?.find(id) ?? -1;
    return (term) => {
      const list = live && term.listIn(live, place);
      if (list === undefined) return undefined;
      const at = indexIn(list.documents, list.start, list.end, document);
      if (at < 0) return undefined;
      return { share: list.impacts[at]! / FULL_IMPACT, fields: list.fields?.[at] ?? 0 };
    };
  }

  /**
   * Merges into one segment where that is due (or `all`), in steps: between them searches and changes go on.
   * Only one such generator may be under way.
   */
  *merge(all = false): Generator<void, void> {
    for (;;) {
      yield* this.endSmallMerge();
      const chosen = all ? this.untidy() : segmentsToMerge(this.segments);
      if (chosen.length === 0) return;
      yield* this.mergeChosen(chosen);
    }
  }

  get segmentCount(): number {
    return this.segments.length;
  }

  get wantsMerge(): boolean {
    return this.smallMerge !== undefined || segmentsToMerge(this.segments).length > 0;
  }

  /** The one segment that holds everything; absent until `merge(true)` has run to its end. */
  get whole(): Segment | undefined {
    if (this.segments.length === 0) return runToEnd(new SegmentBuilder().finish());
    return this.untidy().length === 0 ? this.segments[0]!.segment : undefined;
  }

  /** Starts from a segment that was saved. */
  load(segment: Segment): void {
    this.segments = segment.ids.size > 0 ? [new LiveSegment(segment)] : [];
  }

  private bases(): Map<LiveSegment, number> {
    const bases = new Map<LiveSegment, number>();
    let base = 0;
    for (const live of this.segments) {
      bases.set(live, base);
      base += live.segment.ids.size;
    }
    return bases;
  }

  private untidy(): LiveSegment[] {
    const tidy =
      this.segments.length === 1 && this.segments[0]!.liveCount === this.segments[0]!.segment.ids.size;
    return tidy ? [] : this.segments;
  }

  private mergeSmall(): void {
    if (this.smallMerge === undefined && this.segments.length > MAX_SEGMENTS) {
      const chosen = segmentsToMerge(this.segments.filter((live) => !this.merging.has(live)));
      const size = chosen.reduce((sum, live) => sum + live.segment.ids.size, 0);
      if (chosen.length === 0 || size > INLINE_MERGE) return;
      this.smallMerge = this.mergeChosen(chosen, PUT_MERGE_STEP);
    }
    if (this.smallMerge?.next().done === true) this.smallMerge = undefined;
  }

  /** Puts may end it, and start another one, between the steps. */
  private *endSmallMerge(): Generator<void, void> {
    while (this.smallMerge !== undefined) {
      const small = this.smallMerge;
      yield* small;
      if (this.smallMerge === small) this.smallMerge = undefined;
    }
  }

  private *mergeChosen(chosen: readonly LiveSegment[], step?: number): Generator<void, void> {
    for (const live of chosen) this.merging.add(live);
    const counts = chosen.map((live) => live.deadCount);
    const parts = chosen.map((live) => {
      const dead = live.copyOfDead();
      return { segment: live.segment, isDead: (document: number) => isSet(dead, document) };
    });
    const merged = new LiveSegment(yield* mergeSegments(parts, step));
    chosen.forEach((live, at) => {
      for (const document of live.deadSince(counts[at]!)) {
        merged.bury(merged.find(live.segment.ids.get(document)));
      }
    });
    for (const live of chosen) this.merging.delete(live);
    this.replace(chosen, merged);
  }

  private replace(old: readonly LiveSegment[], merged: LiveSegment): void {
    this.segments = [...this.segments.filter((live) => !old.includes(live)), merged].filter(
      (live) => live.liveCount > 0,
    );
  }
}

/** The newest of each id, in pieces that become a segment each. */
export function batchesOf(documents: readonly SearchDocument[]): SearchDocument[][] {
  const newest = [...new Map(documents.map((document) => [document.id, document])).values()];
  const count = Math.ceil(newest.length / MAX_BATCH);
  return Array.from({ length: count }, (_, at) => newest.slice(at * MAX_BATCH, (at + 1) * MAX_BATCH));
}

function postingLists(live: LiveSegment, place: number, terms: readonly QueryTerm[]): PostingList[] {
  const lists: PostingList[] = [];
  for (const term of terms) {
    const list = term.listIn(live, place);
    if (list !== undefined) lists.push(list);
  }
  return lists;
}

function listedFirst(one: TermMatches, other: TermMatches): boolean {
  if (one.live === other.live) return one.document < other.document;
  return one.live.segment.ids.get(one.document) < other.live.segment.ids.get(other.document);
}

function isSet(bits: Uint32Array, at: number): boolean {
  return ((bits[at >>> 5]! >>> (at & 31)) & 1) === 1;
}

function runToEnd<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

interface Sized {
  readonly liveCount: number;
  readonly segment: { readonly ids: { readonly size: number } };
}

/** This many segments of about the same size are merged: a document is rewritten only log times. */
const PER_TIER = 8;
const MAX_DEAD_SHARE = 0.3;

/** The segments that should become one now: the smallest of about one size, or one that is mostly dead. */
function segmentsToMerge<T extends Sized>(segments: readonly T[]): readonly T[] {
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
