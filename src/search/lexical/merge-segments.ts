import { FacetTable, HashBits, hasBit, type Segment, StringTable } from "./segment.ts";

/** A segment to merge. */
export interface MergePart {
  readonly segment: Segment;
  /** A bit for each document to leave out. */
  readonly dead: Uint32Array;
}

/** Postings between two turns of the event loop: a few milliseconds. */
const STEP = 131_072;
/** The cost of a string, in postings. */
const STRING_COST = 16;
const DEAD = 0xffffffff;

/**
 * Creates one segment from the live documents of several. A generator, so that a large merge can run over many turns of
 * the event loop: it yields after each piece of work.
 */
export function* mergeSegments(parts: readonly MergePart[]): Generator<void, Segment> {
  const numbering = yield* numberDocuments(parts);
  yield;
  const tables = parts.map(({ segment }) => segment.terms);
  const walk = new TableWalk(tables);
  const dictionary = new StringTableWriter(tables);
  const postings = parts.reduce((sum, { segment }) => sum + segment.documents.length, 0);
  const starts = new Uint32Array(dictionary.room + 1);
  const maxImpacts = new Uint16Array(dictionary.room);
  const lists = new PostingMerge(parts, numbering.newNumbers, postings);
  let sinceTurn = 0;
  while (walk.next()) {
    const [first] = walk.current;
    const before = lists.length;
    const max = lists.append(walk);
    sinceTurn += STRING_COST + lists.length - before;
    if (lists.length === before) continue;
    maxImpacts[dictionary.size] = max;
    dictionary.copy(tables[first!]!, walk.numberIn(first!));
    starts[dictionary.size] = lists.length;
    if (sinceTurn < STEP) continue;
    sinceTurn = 0;
    yield;
  }
  yield;
  const terms = dictionary.finish();
  return {
    ids: numbering.ids,
    terms,
    starts: fitted(starts, dictionary.size + 1),
    documents: fitted(lists.documents, lists.length),
    impacts: fitted(lists.impacts, lists.length),
    fields: fitted(lists.fields, lists.length),
    maxImpacts: fitted(maxImpacts, dictionary.size),
    names: HashBits.ofNames(terms),
    facets: numbering.facets,
    facetOf: numbering.facetOf,
  };
}

/** Merges the lists of one term after another, each from all parts, in the order of new numbers. */
class PostingMerge {
  readonly documents: Uint32Array;
  readonly impacts: Uint16Array;
  readonly fields: Uint8Array;
  length = 0;
  private readonly parts: readonly MergePart[];
  private readonly newNumbers: readonly Uint32Array[];
  // For each part that has the term: its next live document by new number, and its position.
  private readonly heads: Uint32Array;
  private readonly places: Uint32Array;
  private readonly ends: Uint32Array;

  constructor(parts: readonly MergePart[], newNumbers: readonly Uint32Array[], postings: number) {
    this.parts = parts;
    this.newNumbers = newNumbers;
    this.documents = new Uint32Array(postings);
    this.impacts = new Uint16Array(postings);
    this.fields = new Uint8Array(postings);
    this.heads = new Uint32Array(parts.length);
    this.places = new Uint32Array(parts.length);
    this.ends = new Uint32Array(parts.length);
  }

  /** Appends the postings of the current term. Returns its greatest impact. */
  append(walk: TableWalk): number {
    const { current } = walk;
    for (let at = 0; at < current.length; at++) {
      const { starts } = this.parts[current[at]!]!.segment;
      const number = walk.numberIn(current[at]!);
      this.places[at] = starts[number]!;
      this.ends[at] = starts[number + 1]!;
      this.advance(at, current[at]!);
    }
    let max = 0;
    for (;;) {
      let best = 0;
      for (let at = 1; at < current.length; at++) if (this.heads[at]! < this.heads[best]!) best = at;
      const document = this.heads[best]!;
      if (document === DEAD) return max;
      const { impacts, fields } = this.parts[current[best]!]!.segment;
      const place = this.places[best]! - 1;
      const impact = impacts[place]!;
      this.documents[this.length] = document;
      this.impacts[this.length] = impact;
      this.fields[this.length++] = fields[place]!;
      if (impact > max) max = impact;
      this.advance(best, current[best]!);
    }
  }

  private advance(at: number, part: number): void {
    const { documents } = this.parts[part]!.segment;
    const newNumbers = this.newNumbers[part]!;
    let head = DEAD;
    while (head === DEAD && this.places[at]! < this.ends[at]!) {
      head = newNumbers[documents[this.places[at]!++]!]!;
    }
    this.heads[at] = head;
  }
}

interface Numbering {
  readonly ids: StringTable;
  readonly facets: Segment["facets"];
  readonly facetOf: Uint32Array;
  /** By part and old number: the new number, or `DEAD`. */
  readonly newNumbers: Uint32Array[];
}

function* numberDocuments(parts: readonly MergePart[]): Generator<void, Numbering> {
  const tables = parts.map(({ segment }) => segment.ids);
  const walk = new TableWalk(tables);
  const ids = new StringTableWriter(tables);
  const facets = new FacetTable();
  const facetOf = new Uint32Array(ids.room);
  const newFacets = parts.map(() => new Map<number, number>());
  const newNumbers = parts.map(({ segment }) => new Uint32Array(segment.ids.size).fill(DEAD));
  for (let count = 1; walk.next(); count++) {
    for (const part of walk.current) {
      const number = walk.numberIn(part);
      if (hasBit(parts[part]!.dead, number)) continue;
      newNumbers[part]![number] = ids.size;
      const { segment } = parts[part]!;
      const old = segment.facetOf[number]!;
      const facet = newFacets[part]!.get(old) ?? facets.intern(segment.facets[old]!);
      newFacets[part]!.set(old, facet);
      facetOf[ids.size] = facet;
      ids.copy(segment.ids, number);
    }
    if (count % (STEP / STRING_COST) === 0) yield;
  }
  return { ids: ids.finish(), facets: facets.facets, facetOf: fitted(facetOf, ids.size), newNumbers };
}

/** The used part of the values; a copy if much would be unused. */
function fitted<T extends Uint8Array | Uint16Array | Uint32Array>(values: T, length: number): T {
  if (length === values.length) return values;
  return (length > values.length * 0.9 ? values.subarray(0, length) : values.slice(0, length)) as T;
}

/** Builds a sorted table from strings of other tables. */
class StringTableWriter {
  /** Maximum number of strings. */
  readonly room: number;
  size = 0;
  private readonly units: Uint8Array | Uint16Array;
  private readonly offsets: Uint32Array;
  private length = 0;

  /** Has room for all strings of these tables. */
  constructor(tables: readonly StringTable[]) {
    this.room = tables.reduce((sum, table) => sum + table.size, 0);
    const units = tables.reduce((sum, table) => sum + table.units.length, 0);
    const isWide = tables.some((table) => table.units.BYTES_PER_ELEMENT > 1);
    this.units = isWide ? new Uint16Array(units) : new Uint8Array(units);
    this.offsets = new Uint32Array(this.room + 1);
  }

  copy({ units, offsets }: StringTable, number: number): void {
    const end = offsets[number + 1]!;
    for (let at = offsets[number]!; at < end; at++) this.units[this.length++] = units[at]!;
    this.offsets[++this.size] = this.length;
  }

  finish(): StringTable {
    return new StringTable(this.units.slice(0, this.length), this.offsets.slice(0, this.size + 1));
  }
}

/** Walks several sorted tables in one order: `next` moves to the next string and the tables that have it. */
class TableWalk {
  private readonly tables: readonly StringTable[];
  /** By table: the number of its next string. */
  private readonly cursors: Uint32Array;
  /** Tables with remaining strings, sorted by their next string. */
  private readonly order: number[] = [];
  /** The tables that have the current string; `numberIn` is its number there. */
  readonly current: number[] = [];

  constructor(tables: readonly StringTable[]) {
    this.tables = tables;
    this.cursors = new Uint32Array(tables.length);
    for (let table = 0; table < tables.length; table++) this.enqueue(table);
  }

  /** False at the end. */
  next(): boolean {
    const { current, order } = this;
    for (const table of current) {
      this.cursors[table]!++;
      this.enqueue(table);
    }
    current.length = 0;
    if (order.length === 0) return false;
    do current.push(order.pop()!);
    while (order.length > 0 && this.compare(order.at(-1)!, current[0]!) === 0);
    return true;
  }

  numberIn(table: number): number {
    return this.cursors[table]!;
  }

  /** Sorted from last to first, so that the next table is popped from the end. */
  private enqueue(table: number): void {
    if (this.cursors[table]! >= this.tables[table]!.size) return;
    const { order } = this;
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(order[middle]!, table) > 0) low = middle + 1;
      else high = middle;
    }
    order.splice(low, 0, table);
  }

  private compare(one: number, other: number): number {
    const { units, offsets } = this.tables[one]!;
    const { units: otherUnits, offsets: otherOffsets } = this.tables[other]!;
    let at = offsets[this.cursors[one]!]!;
    const end = offsets[this.cursors[one]! + 1]!;
    let otherAt = otherOffsets[this.cursors[other]!]!;
    const otherEnd = otherOffsets[this.cursors[other]! + 1]!;
    const length = end - at - (otherEnd - otherAt);
    while (at < end && otherAt < otherEnd) {
      const difference = units[at++]! - otherUnits[otherAt++]!;
      if (difference !== 0) return difference;
    }
    return length;
  }
}
