import { FacetTable } from "./facet-table.ts";
import { GrowingArray } from "./growing-array.ts";
import type { Segment } from "./segment.ts";
import { StringTable } from "./string-table.ts";

/** A segment to merge, with the documents that are left out. */
export interface MergePart {
  readonly segment: Segment;
  readonly isDead: (document: number) => boolean;
}

const TERMS_PER_STEP = 4096;

/** A posting packed into one number that sorts by document: document, impact (16 bits), fields (8 bits). */
const DOCUMENT_UNIT = 2 ** 24;
const IMPACT_UNIT = 2 ** 8;

/**
 * Makes one segment of the live documents of several. A generator, so that a large merge can be spread over
 * many turns of the event loop: it yields after each bounded piece of work.
 */
export function* mergeSegments(parts: readonly MergePart[]): Generator<void, Segment> {
  const numbering = numberDocuments(parts);
  yield;
  const cursors = parts.map(() => 0);
  const dictionary: string[] = [];
  const starts = new GrowingArray(Uint32Array);
  const maxImpacts = new GrowingArray(Uint16Array);
  const documents = new GrowingArray(Uint32Array);
  const impacts = new GrowingArray(Uint16Array);
  const fields = new GrowingArray(Uint8Array);
  const heads = parts.map((part) => headOf(part, 0));
  let gathered = new Float64Array(1024);
  starts.push(0);
  for (let step = 1; ; step++) {
    let term: string | undefined;
    for (const head of heads) if (head !== undefined && (term === undefined || head < term)) term = head;
    if (term === undefined) break;
    let count = 0;
    let sources = 0;
    for (let which = 0; which < parts.length; which++) {
      if (heads[which] !== term) continue;
      const { segment } = parts[which]!;
      const number = cursors[which]!++;
      heads[which] = headOf(parts[which]!, number + 1);
      sources++;
      const end = segment.starts[number + 1]!;
      for (let at = segment.starts[number]!; at < end; at++) {
        const document = numbering.newNumbers[which]![segment.documents[at]!]!;
        if (document === DEAD) continue;
        if (count === gathered.length) gathered = grown(gathered);
        gathered[count++] =
          document * DOCUMENT_UNIT + segment.impacts[at]! * IMPACT_UNIT + segment.fields[at]!;
      }
    }
    if (count === 0) continue;
    if (sources > 1) gathered.subarray(0, count).sort();
    let max = 0;
    for (let at = 0; at < count; at++) {
      const packed = gathered[at]!;
      const document = Math.floor(packed / DOCUMENT_UNIT);
      const rest = packed - document * DOCUMENT_UNIT;
      const impact = rest >>> 8;
      documents.push(document);
      impacts.push(impact);
      fields.push(rest & 0xff);
      if (impact > max) max = impact;
    }
    dictionary.push(term);
    starts.push(documents.length);
    maxImpacts.push(max);
    if (step % TERMS_PER_STEP === 0) yield;
  }
  return {
    ids: StringTable.from(numbering.ids),
    terms: StringTable.from(dictionary),
    starts: starts.trimmed(),
    documents: documents.trimmed(),
    impacts: impacts.trimmed(),
    fields: fields.trimmed(),
    maxImpacts: maxImpacts.trimmed(),
    facets: numbering.facets,
    facetOf: numbering.facetOf,
  };
}

const DEAD = 0xffffffff;

interface Numbering {
  readonly ids: string[];
  readonly facets: Segment["facets"];
  readonly facetOf: Uint32Array;
  /** By part and old number: the new number, or `DEAD`. */
  readonly newNumbers: Uint32Array[];
}

function numberDocuments(parts: readonly MergePart[]): Numbering {
  const live: { id: string; which: number; number: number }[] = [];
  parts.forEach(({ segment, isDead }, which) => {
    for (let number = 0; number < segment.ids.size; number++) {
      if (!isDead(number)) live.push({ id: segment.ids.get(number), which, number });
    }
  });
  if (parts.length > 1) live.sort((one, other) => (one.id < other.id ? -1 : 1));
  const facets = new FacetTable();
  const facetOf = new Uint32Array(live.length);
  const newNumbers = parts.map(({ segment }) => new Uint32Array(segment.ids.size).fill(DEAD));
  const facetCache = parts.map(
    ({ segment }) => new Map<number, number>(segment.facets.map((_, at) => [at, -1])),
  );
  live.forEach(({ which, number }, newNumber) => {
    newNumbers[which]![number] = newNumber;
    const { segment } = parts[which]!;
    const old = segment.facetOf[number]!;
    let facet = facetCache[which]!.get(old)!;
    if (facet < 0) {
      facet = facets.intern(segment.facets[old]!);
      facetCache[which]!.set(old, facet);
    }
    facetOf[newNumber] = facet;
  });
  return { ids: live.map(({ id }) => id), facets: facets.facets, facetOf, newNumbers };
}

function headOf({ segment }: MergePart, number: number): string | undefined {
  return number < segment.terms.size ? segment.terms.get(number) : undefined;
}

function grown(values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(values.length * 2);
  larger.set(values);
  return larger;
}
