import type { SearchDocument } from "../port/search-index.ts";
import { PostingMaker, type PostingTaker } from "./document-postings.ts";
import { FacetTable, HashBits, type Segment, StringTable } from "./segment.ts";

/** Documents whose postings are put in order between two turns of the event loop. */
const STEP = 4_096;
/** Set in the number of a name, to tell it from that of a word. */
const NAME_BIT = 0x80000000;
/** Sorting the words of a put takes as long as a walk of this many times as many known words in their order. */
const SORT_COST = 8;

/** Makes a segment of documents with distinct ids, one after another. */
export class SegmentBuilder {
  private readonly maker: PostingMaker;
  private readonly facets = new FacetTable();
  private readonly ids: string[] = [];
  private readonly facetOf: number[] = [];
  /** By document in the order of adding: the end of its postings. */
  private readonly ends: number[] = [];
  private readonly names = new Map<string, number>();
  private terms = new Uint32Array(1024);
  /** Impact (16 bits) and fields (8 bits). */
  private worths = new Uint32Array(1024);
  private count = 0;
  private readonly taker: PostingTaker = {
    word: (term, impact, fields) => this.push(term, impact, fields),
    name: (text, print) => {
      const number = this.names.get(text) ?? this.names.size;
      this.names.set(text, number);
      this.push((NAME_BIT | number) >>> 0, print, 1);
    },
  };

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
    this.maker.make(document, this.taker);
    this.ends.push(this.count);
  }

  /** Makes the segment in steps. The builder must not be used after it. */
  *finish(): Generator<void, Segment> {
    const { terms, worths, count, ends } = this;
    const dictionary = this.rankTerms();
    yield;
    const starts = new Uint32Array(dictionary.length + 1);
    for (let at = 0; at < count; at++) starts[terms[at]! + 1]!++;
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
      if (document % STEP === 0) yield;
      const added = order[document]!;
      facetOf[document] = this.facetOf[added]!;
      for (let at = added === 0 ? 0 : ends[added - 1]!; at < ends[added]!; at++) {
        const rank = terms[at]!;
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

  /** The sorted terms that have postings, each of which then names its term by rank. */
  private rankTerms(): string[] {
    const { maker, terms, count } = this;
    const ranks = new Uint32Array(maker.terms.length);
    const names = [...this.names.keys()].sort();
    const nameRanks = new Uint32Array(names.length);
    const dictionary: string[] = [];
    let named = 0;
    const pushNames = (before?: string): void => {
      for (; named < names.length && (before === undefined || names[named]! < before); named++) {
        nameRanks[this.names.get(names[named]!)!] = dictionary.push(names[named]!) - 1;
      }
    };
    for (const term of this.wordsInOrder()) {
      const text = maker.terms[term]!;
      pushNames(text);
      ranks[term] = dictionary.push(text) - 1;
    }
    pushNames();
    for (let at = 0; at < count; at++) {
      const term = terms[at]!;
      terms[at] = term < NAME_BIT ? ranks[term]! : nameRanks[term - NAME_BIT]!;
    }
    return dictionary;
  }

  /** The numbers of the words that have postings, sorted by their texts. */
  private wordsInOrder(): Iterable<number> {
    const { maker, count } = this;
    const words = this.terms.subarray(0, count).filter((term) => term < NAME_BIT);
    if (count * SORT_COST < maker.terms.length) {
      return [...new Set(words)].sort((one, other) => (maker.terms[one]! < maker.terms[other]! ? -1 : 1));
    }
    const used = new Uint8Array(maker.terms.length);
    for (const word of words) used[word] = 1;
    return maker.inOrder().filter((term) => used[term] === 1);
  }

  private push(term: number, impact: number, fields: number): void {
    if (this.count === this.terms.length) this.grow();
    this.terms[this.count] = term;
    this.worths[this.count++] = (impact << 8) | fields;
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
