import type { SearchDocument } from "../port/search-index.ts";
import { PostingMaker } from "./document-postings.ts";
import { FacetTable } from "./facet-table.ts";
import { NameBits } from "./name-bits.ts";
import type { Segment } from "./segment.ts";
import { StringTable } from "./string-table.ts";

/** Makes a segment of documents with distinct ids, one after another. */
export class SegmentBuilder {
  private readonly maker: PostingMaker;
  private readonly facets = new FacetTable();
  private readonly ids: string[] = [];
  private readonly facetOf: number[] = [];
  /** By document in the order of adding: the end of its postings. */
  private readonly ends: number[] = [];
  private terms = new Uint32Array(1024);
  /** Impact (16 bits) and fields (8 bits). */
  private worths = new Uint32Array(1024);
  private count = 0;

  /** A maker can serve several builders, one after another: what it has analysed it knows. */
  constructor(maker = new PostingMaker()) {
    this.maker = maker;
  }

  get size(): number {
    return this.ids.length;
  }

  add(document: SearchDocument): void {
    this.ids.push(document.id);
    this.facetOf.push(this.facets.intern(document));
    this.maker.make(document, (term, impact, fields) => {
      if (this.count === this.terms.length) this.grow();
      this.terms[this.count] = term;
      this.worths[this.count++] = (impact << 8) | fields;
    });
    this.ends.push(this.count);
  }

  /** Makes the segment in steps. The builder must not be used after it. */
  *finish(): Generator<void, Segment> {
    const { terms, worths, count, ends } = this;
    const { dictionary, ranks } = this.rankTerms();
    yield;
    const starts = new Uint32Array(dictionary.length + 1);
    for (let at = 0; at < count; at++) starts[ranks[terms[at]!]! + 1]!++;
    for (let rank = 0; rank < dictionary.length; rank++) starts[rank + 1]! += starts[rank]!;
    const next = starts.slice();
    const documents = new Uint32Array(count);
    const impacts = new Uint16Array(count);
    const fields = new Uint8Array(count);
    const maxImpacts = new Uint16Array(dictionary.length);
    const order = [...this.ids.keys()].sort((one, other) => (this.ids[one]! < this.ids[other]! ? -1 : 1));
    const facetOf = new Uint32Array(order.length);
    // Documents are numbered in the order of their ids, so each term's list comes out ascending.
    for (let document = 0; document < order.length; document++) {
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
    return {
      ids: StringTable.from(order.map((added) => this.ids[added]!)),
      terms: table,
      starts,
      documents,
      impacts,
      fields,
      maxImpacts,
      names: NameBits.of(table),
      facets: this.facets.facets,
      facetOf,
    };
  }

  /** The terms that have postings, sorted, and by number the rank of each. */
  private rankTerms(): { dictionary: string[]; ranks: Uint32Array } {
    const { maker } = this;
    const ranks = new Uint32Array(maker.terms.length);
    for (let at = 0; at < this.count; at++) ranks[this.terms[at]!] = 1;
    const dictionary = maker.terms.filter((_, term) => ranks[term] === 1).sort();
    dictionary.forEach((text, rank) => {
      ranks[maker.numberOf(text)] = rank;
    });
    return { dictionary, ranks };
  }

  private grow(): void {
    const terms = new Uint32Array(this.count * 2);
    const worths = new Uint32Array(this.count * 2);
    terms.set(this.terms);
    worths.set(this.worths);
    this.terms = terms;
    this.worths = worths;
  }
}
