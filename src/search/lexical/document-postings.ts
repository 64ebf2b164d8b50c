import { pushTerms, type Term } from "../analysis/analyze.ts";
import { eachWritten, foldAccents, splitWritten } from "../analysis/split-compounds.ts";
import type { SearchDocument, SearchField } from "../port/search-index.ts";
import { FIELD_RULES, type FieldRule, FULL_IMPACT, WORDS } from "../ranking/tuning.ts";
import { DOMAIN_SIGN, nameTerms } from "./names.ts";

/** The worth of one term of a document, independent of other documents. */
export interface Posting {
  /** 1 to `FULL_IMPACT`; of a name's key, the print of its spelling. */
  readonly impact: number;
  /** Bit `i` is set where the term stands in field `i` of `FIELD_RULES`. */
  readonly fields: number;
}

const MAX_FIELD_FACTOR = 100;
const DOMAIN_ONLY = 1 << FIELD_RULES.findIndex((rule) => rule.field === "domainText");

/** The postings of a document by term: BM25F with fixed reference lengths. */
export function documentPostings(document: SearchDocument): Map<string, Posting> {
  const maker = new PostingMaker();
  const postings = new Map<string, Posting>();
  maker.make(document, {
    word: (term, impact, fields) => postings.set(maker.terms[term]!, { impact, fields }),
    name: (term, print) => postings.set(term, { impact: print, fields: 1 }),
  });
  return postings;
}

/** Takes the postings of a document. */
export interface PostingTaker {
  /** A word by its number. */
  word(term: number, impact: number, fields: number): void;
  /** The term of a name: hardly any comes twice, so they are not numbered. */
  name(term: string, print: number): void;
}

/** Makes the postings of many documents. Words are numbered as they come, and each written word is analysed once. */
export class PostingMaker {
  /** By number. */
  readonly terms: string[] = [];
  private order = new Uint32Array(0);
  private readonly numbers = new Map<string, number>();
  /** The terms of written words; a joined form by the complement of its number. */
  private readonly words = new WordTable<readonly number[]>();
  // By term, all zero between documents.
  private frequencies = new Float64Array(1024);
  private fields = new Uint8Array(1024);
  private counts = new Uint16Array(1024);

  make(document: SearchDocument, taker: PostingTaker): void {
    const met: number[] = [];
    FIELD_RULES.forEach((rule, bit) => {
      const weight = rule.weight * factorOf(document, rule);
      const text = weight > 0 ? textOf(document, rule.field) : "";
      if (text !== "") this.addField(text, rule, weight, 1 << bit, met);
    });
    for (const term of met) {
      const frequency = this.frequencies[term]!;
      const fields = this.fields[term]!;
      this.frequencies[term] = 0;
      this.fields[term] = 0;
      const impact = Math.max(1, Math.round((FULL_IMPACT * frequency) / (frequency + WORDS.saturation)));
      const number = fields === DOMAIN_ONLY ? this.numberOf(DOMAIN_SIGN + this.terms[term]!) : term;
      taker.word(number, impact, fields);
    }
    for (const [term, print] of nameTerms(document)) taker.name(term, print);
  }

  /** The numbers of all terms, sorted by their texts. Terms that are new since the last call are sorted in. */
  inOrder(): Uint32Array {
    const { terms, order } = this;
    if (order.length === terms.length) return order;
    const merged = new Uint32Array(terms.length);
    let taken = 0;
    let length = 0;
    for (const text of terms.slice(order.length).sort()) {
      const place = this.placeOf(text, taken);
      merged.set(order.subarray(taken, place), length);
      length += place - taken;
      taken = place;
      merged[length++] = this.numbers.get(text)!;
    }
    merged.set(order.subarray(taken), length);
    this.order = merged;
    return merged;
  }

  /** The first place of `order`, from `low` on, whose text is behind the given one. */
  private placeOf(text: string, from: number): number {
    let low = from;
    let high = this.order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.terms[this.order[middle]!]! < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private addField(text: string, rule: FieldRule, weight: number, bit: number, met: number[]): void {
    const inField: number[] = [];
    let length = 0;
    const folded = foldAccents(text.slice(0, rule.maxWords * 16));
    eachWritten(folded, rule.maxWords, (start, end) => {
      const numbers = this.words.get(folded, start, end) ?? this.analyze(folded, start, end, rule.maxWords);
      for (let at = 0; at < numbers.length; at++) {
        const number = numbers[at]!;
        const term = number < 0 ? ~number : number;
        if (number >= 0) length++;
        if (this.counts[term] === 0) inField.push(term);
        if (this.counts[term]! < rule.maxRepeats) this.counts[term]!++;
      }
    });
    const worth = weight / (1 - rule.lengthPenalty + (rule.lengthPenalty * length) / rule.pivot);
    for (const term of inField) {
      if (this.fields[term] === 0) met.push(term);
      this.frequencies[term]! += worth * this.counts[term]!;
      this.fields[term]! |= bit;
      this.counts[term] = 0;
    }
  }

  private analyze(text: string, start: number, end: number, limit: number): readonly number[] {
    const split = splitWritten(text.slice(start, end));
    const terms: Term[] = [];
    pushTerms(split, terms, limit);
    const numbers = terms.map((term) => (term.joined ? ~this.numberOf(term.text) : this.numberOf(term.text)));
    // Runs of unspaced script are mostly met once, and cut by the field's limit.
    if (!split.unspaced) this.words.add(text, start, end, numbers);
    return numbers;
  }

  private numberOf(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    const number = this.terms.push(text) - 1;
    this.numbers.set(text, number);
    if (number === this.counts.length) this.grow();
    return number;
  }

  private grow(): void {
    const length = this.counts.length * 2;
    this.frequencies = extended(new Float64Array(length), this.frequencies);
    this.fields = extended(new Uint8Array(length), this.fields);
    this.counts = extended(new Uint16Array(length), this.counts);
  }
}

function extended<T extends Float64Array | Uint8Array | Uint16Array>(larger: T, values: T): T {
  larger.set(values);
  return larger;
}

function factorOf(document: SearchDocument, rule: FieldRule): number {
  const factor = document.weights?.[rule.field] ?? 1;
  return Number.isFinite(factor) ? Math.min(MAX_FIELD_FACTOR, Math.max(0, factor)) : 1;
}

export function textOf(document: SearchDocument, field: SearchField): string {
  const value = document[field];
  return typeof value === "string" ? value : value.join("\n");
}

/**
 * Remembers a value for each of many words. Words are looked up as pieces of a text, which spares cutting out those
 * that are known: much quicker than a `Map`.
 */
export class WordTable<T> {
  private readonly values: T[] = [];
  /** Open addressing: one more than a word's number, or 0. */
  private slots = new Int32Array(2048);
  private hashes = new Int32Array(1024);
  /** Word `i` is `units[starts[i] .. starts[i + 1]]`. */
  private starts = new Uint32Array(1025);
  private units = new Uint16Array(8192);

  get(text: string, start: number, end: number): T | undefined {
    const slot = this.slotOf(text, start, end, hashOf(text, start, end));
    const number = this.slots[slot]!;
    return number === 0 ? undefined : this.values[number - 1];
  }

  /** The word must not be there yet. */
  add(text: string, start: number, end: number, value: T): void {
    if (this.values.length === this.hashes.length) this.grow();
    const hash = hashOf(text, start, end);
    const slot = this.slotOf(text, start, end, hash);
    const number = this.values.push(value) - 1;
    const from = this.starts[number]!;
    while (from + end - start > this.units.length) this.units = lengthened(this.units, this.units.length * 2);
    for (let at = start; at < end; at++) this.units[from + at - start] = text.charCodeAt(at);
    this.starts[number + 1] = from + end - start;
    this.hashes[number] = hash;
    this.slots[slot] = number + 1;
  }

  /** The slot of the word, or the free one where it belongs. */
  private slotOf(text: string, start: number, end: number, hash: number): number {
    const { slots, hashes } = this;
    const last = slots.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & last; ; slot = (slot + 1) & last) {
      const number = slots[slot]! - 1;
      if (number < 0 || (hashes[number] === hash && this.isWord(number, text, start, end))) return slot;
    }
  }

  private isWord(number: number, text: string, start: number, end: number): boolean {
    const from = this.starts[number]!;
    if (this.starts[number + 1]! - from !== end - start) return false;
    for (let at = start; at < end; at++) {
      if (this.units[from + at - start] !== text.charCodeAt(at)) return false;
    }
    return true;
  }

  private grow(): void {
    const size = this.hashes.length * 2;
    this.hashes = lengthened(this.hashes, size);
    this.starts = lengthened(this.starts, size + 1);
    this.slots = new Int32Array(size * 2);
    const last = this.slots.length - 1;
    for (let number = 0; number < this.values.length; number++) {
      const hash = this.hashes[number]!;
      let slot = (hash ^ (hash >>> 15)) & last;
      while (this.slots[slot] !== 0) slot = (slot + 1) & last;
      this.slots[slot] = number + 1;
    }
  }
}

/** FNV-1a over UTF-16 units. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

function lengthened<T extends Int32Array | Uint32Array | Uint16Array>(values: T, length: number): T {
  const larger = new (values.constructor as new (length: number) => T)(length);
  larger.set(values);
  return larger;
}
