import type { SearchDocument } from "../port/search-index.ts";
import { PostingMaker } from "./document-postings.ts";
import { FacetTable, HashBits, lengthened, type Segment, StringTable } from "./segment.ts";

/** Documents whose postings are sorted between two turns of the event loop. */
const STEP = 4_096;

/** Builds a segment from documents with distinct ids. */
export class SegmentBuilder {
  private readonly maker = new PostingMaker();
  private readonly facets = new FacetTable();
  private readonly ids: string[] = [];
  private readonly facetOf: number[] = [];
  /** The end of each document's postings, in the order of adding. */
  private readonly ends: number[] = [];
  private terms = new Uint32Array(1024);
  /** Impact (16 bits) and fields (8 bits). */
  private worths = new Uint32Array(1024);
  private count = 0;

  get size(): number {
    return this.ids.length;
  }

  add(document: SearchDocument): void {
    this.ids.push(document.id);
    this.facetOf.push(this.facets.intern(document));
    this.maker.make(document, (term, impact, fields) => {
      if (this.count === this.terms.length) {
        this.terms = lengthened(this.terms, 2 * this.count);
        this.worths = lengthened(this.worths, 2 * this.count);
      }
      this.terms[this.count] = term;
      this.worths[this.count++] = (impact << 8) | fields;
    });
    this.ends.push(this.count);
  }

  /** Builds the segment in steps. The builder must not be used afterwards. */
  *finish(): Generator<void, Segment> {
    const { terms, worths, count, ends, maker } = this;
    const frequencies = new Uint32Array(maker.terms.length);
    for (let at = 0; at < count; at++) frequencies[terms[at]!]!++;
    // A word that occurs only in domain text has no postings under its own text.
    const dictionary = maker.terms.filter((_, term) => frequencies[term]! > 0).sort();
    yield;
    const ranks = new Uint32Array(maker.terms.length);
    const starts = new Uint32Array(dictionary.length + 1);
    dictionary.forEach((text, rank) => {
      const term = maker.numberOf(text);
      ranks[term] = rank;
      starts[rank + 1] = starts[rank]! + frequencies[term]!;
    });
    const next = starts.slice();
    const documents = new Uint32Array(count);
    const impacts = new Uint16Array(count);
    const fields = new Uint8Array(count);
    const maxImpacts = new Uint16Array(dictionary.length);
    const order = [...this.ids.keys()].sort((one, other) => (this.ids[one]! < this.ids[other]! ? -1 : 1));
    const facetOf = new Uint32Array(order.length);
    // Documents are numbered by id, so each term's list is ascending.
    for (let document = 0; document < order.length; document++) {
      if (document % STEP === 0) yield;
      const added = order[document]!;
      facetOf[document] = this.facetOf[added]!;
      for (let at = added === 0 ? 0 : ends[added - 1]!; at < ends[added]!; at++) {
        const rank = ranks[terms[at]!]!;
        const to = next[rank]!++;
        const impact = worths[at]! >>> 8;
        documents[to] = document;
        impacts[to] = impact;
        fields[to] = worths[at]! & 0xff;
        if (impact > maxImpacts[rank]!) maxImpacts[rank] = impact;
      }
    }
    yield;
    const table = StringTable.from(dictionary);
    yield;
    return {
      ids: StringTable.from(order.map((added) => this.ids[added]!)),
      terms: table,
      starts,
      documents,
      impacts,
      fields,
      maxImpacts,
      names: HashBits.ofNames(table),
      facets: this.facets.facets,
      facetOf,
    };
  }
}

/** Builds the segment of a few documents at once. */
export function buildSegment(documents: Iterable<SearchDocument>): Segment {
  const builder = new SegmentBuilder();
  for (const document of documents) builder.add(document);
  const steps = builder.finish();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
