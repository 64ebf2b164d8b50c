import { analyze } from "../analysis/analyze.ts";
import type { SearchDocument } from "../port/search-index.ts";
import { FIELD_RULES, type FieldRule, FULL_IMPACT, SATURATION, textOf } from "./fields.ts";
import { DOMAIN_SIGN, nameTerms } from "./name-key.ts";

/** The worth of one term of a document, independent of other documents. */
export interface Posting {
  /** 1 to `FULL_IMPACT`; of a name's key, the print of its spelling. */
  impact: number;
  /** Bit `i` is set where the term stands in field `i` of `FIELD_RULES`. */
  fields: number;
}

const MAX_FIELD_FACTOR = 100;
const DOMAIN_ONLY = 1 << FIELD_RULES.findIndex((rule) => rule.field === "domainText");

/** The postings of a document by term: BM25F with fixed reference lengths. */
export function documentPostings(document: SearchDocument): Map<string, Posting> {
  const frequencies = new Map<string, { frequency: number; fields: number }>();
  FIELD_RULES.forEach((rule, bit) => {
    const weight = rule.weight * factorOf(document, rule);
    if (weight > 0) addField(textOf(document, rule.field), rule, weight, 1 << bit, frequencies);
  });
  const postings = new Map<string, Posting>();
  for (const [term, { frequency, fields }] of frequencies) {
    const impact = Math.max(1, Math.round((FULL_IMPACT * frequency) / (frequency + SATURATION)));
    postings.set(fields === DOMAIN_ONLY ? DOMAIN_SIGN + term : term, { impact, fields });
  }
  for (const [term, print] of nameTerms(document)) postings.set(term, { impact: print, fields: 1 });
  return postings;
}

function addField(
  text: string,
  rule: FieldRule,
  weight: number,
  bit: number,
  frequencies: Map<string, { frequency: number; fields: number }>,
): void {
  if (text === "") return;
  const counts = new Map<string, number>();
  let length = 0;
  for (const term of analyze(text.slice(0, rule.maxWords * 16), rule.maxWords)) {
    counts.set(term.text, (counts.get(term.text) ?? 0) + 1);
    if (!term.joined) length++;
  }
  const worth = weight / (1 - rule.lengthPenalty + (rule.lengthPenalty * length) / rule.pivot);
  for (const [term, count] of counts) {
    const frequency = worth * Math.min(count, rule.maxRepeats);
    const known = frequencies.get(term);
    if (known === undefined) frequencies.set(term, { frequency, fields: bit });
    else {
      known.frequency += frequency;
      known.fields |= bit;
    }
  }
}

function factorOf(document: SearchDocument, rule: FieldRule): number {
  const factor = document.weights?.[rule.field] ?? 1;
  return Number.isFinite(factor) ? Math.min(MAX_FIELD_FACTOR, Math.max(0, factor)) : 1;
}
