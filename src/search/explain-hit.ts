import { FIELD_RULES } from "./lexical/fields.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { ClauseRanking } from "./lexical/rank-clauses.ts";
import type { Explanation, SearchField, TermScore } from "./port/search-index.ts";

/**
 * Why a document was found. A term's score is exact; where the term stands in several fields, its score is
 * shared out among them by their weights.
 */
export function explainHit(
  index: LexicalIndex,
  { whole }: ClauseRanking,
  id: string,
  vector: number | undefined,
): Explanation {
  const terms: TermScore[] = [];
  const fields: Partial<Record<SearchField, number>> = {};
  let lexical = 0;
  let exactName = false;
  const postingOf = index.postingsOf(id);
  for (const term of whole.terms) {
    const posting = postingOf(term);
    if (posting === undefined) continue;
    const score = term.weight * posting.share;
    lexical += score;
    if (term.isName) exactName = true;
    const rules = term.isName
      ? FIELD_RULES.slice(0, 1)
      : FIELD_RULES.filter((_, bit) => (posting.fields >> bit) & 1);
    const weights = rules.reduce((sum, rule) => sum + rule.weight, 0);
    for (const { field, weight } of rules) fields[field] = (fields[field] ?? 0) + (score * weight) / weights;
    terms.push({ term: term.label, score, fields: rules.map((rule) => rule.field) });
  }
  return { lexical, ...(vector !== undefined && { vector }), exactName, fields, terms };
}
