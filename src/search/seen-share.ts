import { FIELD_RULES } from "./lexical/fields.ts";

/** Bit of the one field that is too long to be part of a vector's text. */
export const CONTENT_ONLY = 1 << FIELD_RULES.findIndex(({ field }) => field === "content");
/** Hits that speak for the list. */
const LOOKED_AT = 3;

interface AskedTerm {
  readonly weight: number;
  /** Stands for a whole name in the query. */
  readonly isName: boolean;
}

/**
 * How much of what the best hits by words matched is in the text that their vectors stand for, 0 to 1. Vectors
 * leave out the body of a document, so they cannot judge a query that is about it. `terms` are heaviest first.
 */
export function seenShare<T extends AskedTerm>(
  hits: readonly { readonly id: string }[],
  terms: readonly T[],
  postingsOf: (id: string) => (term: T) => { readonly share: number; readonly fields: number } | undefined,
): number {
  let seen = 0;
  let all = 0;
  for (const { id } of hits.slice(0, LOOKED_AT)) {
    const postingOf = postingsOf(id);
    for (const term of terms) {
      const posting = postingOf(term);
      if (posting === undefined) continue;
      const score = term.weight * posting.share;
      all += score;
      if (term.isName || posting.fields !== CONTENT_ONLY) seen += score;
    }
  }
  return all === 0 ? 1 : seen / all;
}
