import type { QueryWords } from "../analysis/analyze-query.ts";
import { inBatches } from "../port/engine-input.ts";
import type { SearchDocument, SearchFilter } from "../port/search-index.ts";
import type { Scored } from "../ranking/fusion.ts";
import { FULL_IMPACT } from "../ranking/tuning.ts";
import { filterKey, LiveSegment } from "./live-segment.ts";
import { mergeSegments } from "./merge-segments.ts";
import { hashText } from "./names.ts";
import { Scratch, scoreSegment, TopHits } from "./score-segment.ts";
import { indexIn, type Segment } from "./segment.ts";
import { buildSegment, SegmentBuilder } from "./segment-builder.ts";
import { postingsIn, type WeighedTerm, type Weighing, weighQuery } from "./weigh-query.ts";

export interface Ranking extends Weighing {
  /** Best first, ties by id. */
  readonly hits: readonly Scored[];
}

/** A document by its number. */
interface Match {
  readonly live: LiveSegment;
  readonly document: number;
}

/** Documents of one put in one segment. */
const MAX_BATCH = 8_192;
/** Documents to analyse between two turns of the event loop. */
const PUT_STEP = 256;

/** The words of documents in immutable segments. Results never depend on the history of changes. */
export class LexicalIndex {
  private segments: LiveSegment[] = [];
  private readonly scratch = new Scratch();
  /** Segments of the running merge, which only that merge may replace. */
  private merging: readonly LiveSegment[] = [];

  get size(): number {
    return this.segments.reduce((sum, live) => sum + live.liveCount, 0);
  }

  /** Adds or replaces documents, and removes hidden ones, in steps: searches in between find the old documents. */
  *put(documents: readonly SearchDocument[]): Generator<void, void> {
    for (const batch of batchesOf(documents)) {
      const shown = batch.filter(({ visibility }) => visibility !== "hidden");
      this.take(batch, shown.length < PUT_STEP ? buildSegment(shown) : yield* buildInSteps(shown));
    }
  }

  /** Adds a batch whose segment was built elsewhere. */
  take(batch: readonly SearchDocument[], segment: Segment): void {
    this.drop(batch.map((document) => document.id));
    if (segment.ids.size > 0) this.segments.push(new LiveSegment(segment));
  }

  drop(ids: readonly string[]): void {
    const isMany = ids.length >= PUT_STEP;
    for (const id of ids) {
      const hash = isMany ? hashText(id) : 0;
      for (const live of this.segments) {
        if (isMany && !live.mayHaveId(hash)) continue;
        const document = live.find(id);
        if (document >= 0) live.markDeleted(document);
      }
    }
    this.segments = this.segments.filter((live) => live.liveCount > 0 || this.merging.includes(live));
  }

  /** The best documents for the words of one query or clause. */
  rank(words: QueryWords, filter: SearchFilter, limit: number): Ranking {
    const scopesKey = filterKey({ scopes: filter.scopes });
    const seen = this.segments.map((live) => live.seenBy(filter.scopes, scopesKey));
    const weighing = weighQuery(words, seen);
    const top = new TopHits<Match>(limit, listedFirst);
    const key = filterKey(filter);
    for (const live of limit === 0 ? [] : this.segments) {
      const lists = weighing.terms.flatMap((term) => postingsIn(live.segment, term) ?? []);
      if (lists.length === 0) continue;
      this.scratch.reserve(live.segment.ids.size);
      const mask = live.maskFor(filter, key);
      scoreSegment(lists, mask, limit, this.scratch, top.threshold, (score, document) =>
        top.offer(score, { live, document }),
      );
    }
    return { ...weighing, hits: top.list.map(({ score, item }) => ({ id: idOf(item), score })) };
  }

  /** Postings of a document by term: its share of the term's weight, and the fields with the term. */
  postingsOf(id: string): (term: WeighedTerm) => { share: number; fields: number } | undefined {
    const live = this.segments.find((one) => one.find(id) >= 0);
    const document = live?.find(id) ?? -1;
    return (term) => {
      const list = live && postingsIn(live.segment, term);
      if (list === undefined) return undefined;
      const at = indexIn(list.documents, list.start, list.end, document);
      if (at < 0) return undefined;
      return { share: list.impacts[at]! / FULL_IMPACT, fields: list.fields?.[at] ?? 0 };
    };
  }

  /** Merges due segments (or `all`) in steps: searches and changes run in between. One generator at a time. */
  *merge(all = false): Generator<void, void> {
    for (;;) {
      const chosen = all ? this.untidy() : segmentsToMerge(this.segments);
      if (chosen.length === 0) return;
      this.merging = chosen;
      const gone = chosen.map((live) => live.gone.length);
      const parts = chosen.map(({ segment, dead }) => ({ segment, dead: dead.slice() }));
      const merged = new LiveSegment(yield* mergeSegments(parts));
      chosen.forEach((live, at) => {
        for (const document of live.gone.slice(gone[at]))
          merged.markDeleted(merged.find(live.segment.ids.get(document)));
      });
      this.merging = [];
      this.segments = this.segments.filter((live) => !chosen.includes(live));
      if (merged.liveCount > 0) this.segments.push(merged);
    }
  }

  get segmentCount(): number {
    return this.segments.length;
  }

  get wantsMerge(): boolean {
    return segmentsToMerge(this.segments).length > 0;
  }

  /** The single segment with everything. Absent until `merge(true)` has finished. */
  get whole(): Segment | undefined {
    if (this.segments.length === 0) return buildSegment([]);
    return this.untidy().length === 0 ? this.segments[0]!.segment : undefined;
  }

  /** Starts from a saved segment. */
  load(segment: Segment): void {
    this.segments = segment.ids.size > 0 ? [new LiveSegment(segment)] : [];
  }

  private untidy(): readonly LiveSegment[] {
    return this.segments.length === 1 && this.segments[0]!.gone.length === 0 ? [] : this.segments;
  }
}

/** The newest version of each id, in batches for one segment each. */
export function batchesOf(documents: readonly SearchDocument[]): SearchDocument[][] {
  const newest = new Map(documents.map((document) => [document.id, document]));
  return inBatches([...newest.values()], MAX_BATCH);
}

function* buildInSteps(documents: readonly SearchDocument[]): Generator<void, Segment> {
  const builder = new SegmentBuilder();
  for (const document of documents) {
    builder.add(document);
    if (builder.size % PUT_STEP === 0) yield;
  }
  return yield* builder.finish();
}

function idOf({ live, document }: Match): string {
  return live.segment.ids.get(document);
}

function listedFirst(one: Match, other: Match): boolean {
  return one.live === other.live ? one.document < other.document : idOf(one) < idOf(other);
}

/** Merge this many segments of similar size: a document is rewritten only log times. */
const PER_TIER = 8;
const MAX_DEAD_SHARE = 0.3;

/** The segments to merge now: the smallest of similar size, or one with mostly deleted documents. */
function segmentsToMerge(segments: readonly LiveSegment[]): readonly LiveSegment[] {
  const tierOf = ({ liveCount }: LiveSegment) =>
    Math.floor(Math.log(Math.max(1, liveCount)) / Math.log(PER_TIER));
  const full = [...Map.groupBy(segments, tierOf)].filter(([, alike]) => alike.length >= PER_TIER);
  if (full.length > 0) return full.reduce((one, other) => (other[0] < one[0] ? other : one))[1];
  return segments.filter((live) => live.gone.length > live.segment.ids.size * MAX_DEAD_SHARE).slice(0, 1);
}
