import { pushTerms, type Term } from "../analysis/analyze.ts";
import { eachWritten, foldAccents, splitWritten } from "../analysis/split-compounds.ts";
import type { SearchDocument, SearchField } from "../port/search-index.ts";
import { FIELD_RULES, type FieldRule, FULL_IMPACT, WORDS } from "../ranking/tuning.ts";
import { DOMAIN_SIGN, nameTerms } from "./names.ts";
import { lengthened } from "./segment.ts";

/** The weight of one term in a document, independent of other documents. */
export interface Posting {
  /** 1 to `FULL_IMPACT`. For the key of a name: the print of its spelling. */
  readonly impact: number;
  /** Bit `i` is set if the term occurs in field `i` of `FIELD_RULES`. */
  readonly fields: number;
}

const MAX_FIELD_FACTOR = 100;
const DOMAIN_ONLY = 1 << FIELD_RULES.findIndex((rule) => rule.field === "domainText");

/** Postings of a document by term: BM25F with fixed reference lengths. */
export function documentPostings(document: SearchDocument): Map<string, Posting> {
  const maker = new PostingMaker();
  const postings = new Map<string, Posting>();
  maker.make(document, (term, impact, fields) => postings.set(maker.terms[term]!, { impact, fields }));
  return postings;
}

/** Creates the postings of many documents. Numbers terms in order of appearance and analyses each written word once. */
export class PostingMaker {
  /** By number. */
  readonly terms: string[] = [];
  private readonly numbers = new Map<string, number>();
  /** Terms of written words; the complement of its number for a joined form. */
  private readonly words = new Map<string, readonly number[]>();
  // By term. All zero between documents.
  private frequencies = new Float64Array(1024);
  private fields = new Uint8Array(1024);
  private counts = new Uint16Array(1024);

  make(document: SearchDocument, take: (term: number, impact: number, fields: number) => void): void {
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
      take(fields === DOMAIN_ONLY ? this.numberOf(DOMAIN_SIGN + this.terms[term]!) : term, impact, fields);
    }
    for (const [term, print] of nameTerms(document)) take(this.numberOf(term), print, 1);
  }

  numberOf(text: string): number {
    const existing = this.numbers.get(text);
    if (existing !== undefined) return existing;
    const number = this.terms.push(text) - 1;
    this.numbers.set(text, number);
    if (number === this.counts.length) {
      this.frequencies = lengthened(this.frequencies, 2 * number);
      this.fields = lengthened(this.fields, 2 * number);
      this.counts = lengthened(this.counts, 2 * number);
    }
    return number;
  }

  private addField(text: string, rule: FieldRule, weight: number, bit: number, met: number[]): void {
    const inField: number[] = [];
    let length = 0;
    const folded = foldAccents(text.slice(0, rule.maxWords * 16));
    eachWritten(folded, rule.maxWords, (start, end) => {
      const written = folded.slice(start, end);
      const numbers = this.words.get(written) ?? this.analyze(written, rule.maxWords);
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

  private analyze(written: string, limit: number): readonly number[] {
    const split = splitWritten(written);
    const terms: Term[] = [];
    pushTerms(split, terms, limit);
    const numbers = terms.map((term) => (term.joined ? ~this.numberOf(term.text) : this.numberOf(term.text)));
    // Runs of unspaced script rarely repeat, and the field's limit cuts them.
    if (!split.unspaced) this.words.set(written, numbers);
    return numbers;
  }
}

function factorOf(document: SearchDocument, rule: FieldRule): number {
  const factor = document.weights?.[rule.field] ?? 1;
  return Number.isFinite(factor) ? Math.min(MAX_FIELD_FACTOR, Math.max(0, factor)) : 1;
}

export function textOf(document: SearchDocument, field: SearchField): string {
  const value = document[field];
  return typeof value === "string" ? value : value.join("\n");
}
