import {
  BLOCK_SLOTS,
  type CodeBlock,
  codeBytes,
  copyCodes,
  createCodeBlock,
  SCAN_BLOCKS,
} from "./code-block.ts";
import { Codebook, type LearnedCodes } from "./codebook.ts";

/** Sums are signed words. */
const SUMS = 32_768;
/** The first blocks of each scan, for an estimate. */
const SAMPLE_BLOCKS = 16;

/** A codebook and the codes created with it. */
export interface SavedCodes extends LearnedCodes {
  readonly bytes: Uint8Array;
}

/** Saved or new codes. Undefined if the host cannot run the kernel. */
export function createVectorCodes({
  order,
  centres,
  bytes = new Uint8Array(0),
}: LearnedCodes & Partial<SavedCodes>): VectorCodes | undefined {
  const book = new Codebook({ order, centres });
  const block = createCodeBlock(book.parts);
  if (block === undefined) return undefined;
  const slots = (bytes.length / codeBytes(1, book.parts)) * BLOCK_SLOTS;
  block.reserve(slots);
  block.bytes(slots).set(bytes);
  return new VectorCodes(book, block);
}

/** Short codes of all vectors, to select the few that are worth an exact comparison. */
export class VectorCodes {
  private readonly book: Codebook;
  private readonly block: CodeBlock;
  private readonly codes: Uint8Array;

  constructor(book: Codebook, block: CodeBlock) {
    this.book = book;
    this.block = block;
    this.codes = new Uint8Array(book.parts);
  }

  put(slot: number, row: Int8Array, scale: number): void {
    this.block.reserve(slot + 1);
    this.book.encode(row, scale, this.codes);
    this.block.put(slot, this.codes);
  }

  /** The codebook, and the codes of these slots below `end` in order; a negative slot gets arbitrary codes. */
  copyOf(slots: Int32Array, end: number): SavedCodes {
    const { learned, parts } = this.book;
    const from = this.block.bytes(end);
    const bytes = new Uint8Array(codeBytes(slots.length, parts));
    for (let at = 0; at < slots.length; at++) {
      if (slots[at]! >= 0) copyCodes(from, slots[at]!, bytes, at, parts);
    }
    return { ...learned, bytes };
  }

  /** The `count` most likely matches among the first `slots` vectors that pass, with all ties, by slot. */
  candidates(
    query: Int8Array,
    slots: number,
    count: number,
    passes: (slot: number) => boolean,
  ): readonly number[] {
    this.block.setTables(this.book.tables(query));
    const likely = new TopSums(count, slots, passes);
    const blocks = Math.ceil(slots / BLOCK_SLOTS);
    const bar = this.guessBar(blocks, count, likely);
    if (this.scan(blocks, bar, likely) || bar < 0) return likely.take();
    // The estimate was too high, which is rare.
    this.scan(blocks, -1, likely);
    return likely.take();
  }

  /** A sum that about twice `count` vectors exceed, estimated from a small part of them; -1 if that is too small. */
  private guessBar(blocks: number, count: number, likely: TopSums): number {
    const share = SAMPLE_BLOCKS / SCAN_BLOCKS;
    likely.start(Math.ceil(2 * count * share), -1);
    for (let first = 0; first < blocks; first += SCAN_BLOCKS) {
      this.block.scan(first, Math.min(SAMPLE_BLOCKS, blocks - first), likely.least, likely.offer);
    }
    return likely.least;
  }

  /** Offers all vectors above the bar. False if they are fewer than wanted. */
  private scan(blocks: number, bar: number, likely: TopSums): boolean {
    likely.start(likely.count, bar);
    for (let first = 0; first < blocks; first += SCAN_BLOCKS) {
      this.block.scan(first, Math.min(SCAN_BLOCKS, blocks - first), likely.least, likely.offer);
    }
    return likely.isFull;
  }
}

/** Collects the vectors with the greatest sums. */
class TopSums {
  readonly count: number;
  /** A vector needs a greater sum than this. */
  least = -1;
  private readonly slots: number;
  private readonly passes: (slot: number) => boolean;
  private wanted = 0;
  private above = 0;
  private found: number[] = [];
  private sums: number[] = [];
  /** Number of vectors with each sum. */
  private readonly counts = new Uint32Array(SUMS);

  constructor(count: number, slots: number, passes: (slot: number) => boolean) {
    this.count = count;
    this.slots = slots;
    this.passes = passes;
  }

  get isFull(): boolean {
    return this.above >= this.wanted;
  }

  start(wanted: number, least: number): void {
    for (const sum of this.sums) this.counts[sum] = 0;
    this.wanted = wanted;
    this.least = least;
    this.above = 0;
    this.found = [];
    this.sums = [];
  }

  readonly offer = (slot: number, sum: number): void => {
    if (sum <= this.least || slot >= this.slots || !this.passes(slot)) return;
    const { counts } = this;
    this.found.push(slot);
    this.sums.push(sum);
    counts[sum]!++;
    this.above++;
    while (this.above - counts[this.least + 1]! >= this.wanted) this.above -= counts[++this.least]!;
  };

  take(): number[] {
    return this.found.filter((_, at) => this.sums[at]! > this.least);
  }
}
