import { strideOf } from "./dot-block.ts";

/** Components that share a code. */
const PART = 4;
/** Centres of a part: a code has four bits. */
export const CENTRES = 16;
const ROUNDS = 8;
/** Two entries of a table must fit into a byte, and the sum over all tables into a signed word. */
const MOST_PER_ENTRY = 127;
const MOST_PER_SUM = 32_767;

/** A training vector: its int8 row, and the scale that gives it length one. */
export interface SampleRow {
  readonly row: Int8Array;
  readonly scale: number;
}

/** The learned values of a codebook. */
export interface LearnedCodes {
  /** The components of each part, one part after another. */
  readonly order: Uint16Array;
  /** Component `d` of centre `c` of part `p` is at `(p * CENTRES + c) * PART + d`. */
  readonly centres: Float32Array;
}

/** Typical values for each part of a vector. A code selects the one nearest to the vector's own. */
export class Codebook {
  readonly learned: LearnedCodes;
  private readonly squares: Float32Array;

  constructor(learned: LearnedCodes) {
    const { centres } = learned;
    this.learned = learned;
    this.squares = new Float32Array(centres.length / PART);
    for (let at = 0; at < centres.length; at++) this.squares[Math.floor(at / PART)]! += centres[at]! ** 2;
  }

  /** Number of codes of a vector. */
  get parts(): number {
    return this.squares.length / CENTRES;
  }

  /** Writes the codes of a vector, one for each part. */
  encode(row: Int8Array, scale: number, codes: Uint8Array): void {
    for (let part = 0; part < codes.length; part++) codes[part] = this.nearest(part, row, scale);
  }

  /** Tables by part and code for one query. Sums of entries rank vectors nearly like their products with the query. */
  tables(query: Int8Array): Uint8Array {
    const { parts } = this;
    const { order, centres } = this.learned;
    const products = new Float64Array(parts * CENTRES);
    const lowest = new Float64Array(parts).fill(Number.POSITIVE_INFINITY);
    let widest = 0;
    for (let part = 0; part < parts; part++) {
      let highest = Number.NEGATIVE_INFINITY;
      for (let at = part * CENTRES; at < (part + 1) * CENTRES; at++) {
        let product = 0;
        for (let d = 0; d < PART; d++) product += query[order[part * PART + d]!]! * centres[at * PART + d]!;
        products[at] = product;
        lowest[part] = Math.min(lowest[part]!, product);
        highest = Math.max(highest, product);
      }
      widest = Math.max(widest, highest - lowest[part]!);
    }
    const unit = widest === 0 ? 0 : Math.min(MOST_PER_ENTRY, Math.floor(MOST_PER_SUM / parts)) / widest;
    return Uint8Array.from(products, (product, at) =>
      Math.round((product - lowest[Math.floor(at / CENTRES)]!) * unit),
    );
  }

  private nearest(part: number, row: Int8Array, scale: number): number {
    const { squares } = this;
    const { order, centres } = this.learned;
    const from = part * PART;
    const a = row[order[from]!]! * scale * 2;
    const b = row[order[from + 1]!]! * scale * 2;
    const c = row[order[from + 2]!]! * scale * 2;
    const d = row[order[from + 3]!]! * scale * 2;
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let centre = 0; centre < CENTRES; centre++) {
      const at = (part * CENTRES + centre) * PART;
      const distance =
        squares[part * CENTRES + centre]! -
        (a * centres[at]! + b * centres[at + 1]! + c * centres[at + 2]! + d * centres[at + 3]!);
      if (distance >= least) continue;
      least = distance;
      best = centre;
    }
    return best;
  }
}

/** Learns a codebook by k-means. The result depends only on the rows. Yields after each part. */
export function* learnCodes(rows: readonly SampleRow[], dimensions: number): Generator<void, LearnedCodes> {
  const order = balancedOrder(rows, strideOf(dimensions));
  const centres = new Float32Array(order.length * CENTRES);
  yield;
  for (let from = 0; from < order.length; from += PART) {
    learnPart(
      rows,
      order.subarray(from, from + PART),
      centres.subarray(from * CENTRES, (from + PART) * CENTRES),
    );
    yield;
  }
  return { order, centres };
}

/** Mixes strong and weak components in each part, so that all codes carry a similar amount of information. */
function balancedOrder(rows: readonly SampleRow[], components: number): Uint16Array {
  const strengths = new Float64Array(components);
  for (const { row, scale } of rows) {
    for (let at = 0; at < components; at++) strengths[at]! += (row[at]! * scale) ** 2;
  }
  const ranked = [...strengths.keys()].sort(
    (one, other) => strengths[other]! - strengths[one]! || one - other,
  );
  const parts = components / PART;
  return Uint16Array.from(ranked, (_, at) => {
    const part = Math.floor(at / PART);
    const round = at % PART;
    return ranked[round * parts + (round % 2 === 0 ? part : parts - 1 - part)]!;
  });
}

function learnPart(rows: readonly SampleRow[], components: Uint16Array, centres: Float32Array): void {
  const points = new Float32Array(rows.length * PART);
  rows.forEach(({ row, scale }, at) => {
    for (let d = 0; d < PART; d++) points[at * PART + d] = row[components[d]!]! * scale;
  });
  for (let centre = 0; centre < CENTRES; centre++) {
    const start = Math.floor((centre * rows.length) / CENTRES) * PART;
    centres.set(points.subarray(start, start + PART), centre * PART);
  }
  const sums = new Float64Array(centres.length);
  const counts = new Uint32Array(CENTRES);
  for (let round = 0; round < ROUNDS; round++) {
    sums.fill(0);
    counts.fill(0);
    for (let at = 0; at < points.length; at += PART) {
      const centre = nearestTo(points, at, centres);
      counts[centre]!++;
      for (let d = 0; d < PART; d++) sums[centre * PART + d]! += points[at + d]!;
    }
    for (let at = 0; at < centres.length; at++) {
      const count = counts[Math.floor(at / PART)]!;
      if (count > 0) centres[at] = sums[at]! / count;
    }
  }
}

function nearestTo(points: Float32Array, at: number, centres: Float32Array): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let centre = 0; centre < CENTRES; centre++) {
    let distance = 0;
    for (let d = 0; d < PART; d++) distance += (points[at + d]! - centres[centre * PART + d]!) ** 2;
    if (distance >= least) continue;
    least = distance;
    best = centre;
  }
  return best;
}
