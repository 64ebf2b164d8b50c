import { startsUnspaced } from "./scripts.ts";

const MAX_CLAUSES = 8;
/** A clause shorter than this (counting a character of an unspaced script twice) joins the one before it. */
const MIN_LENGTH = 16;

/** Ends of sentences and items in any script; a full stop only before white space, since names have dots too. */
const ENDS = /[.!?;]+(?=\s|$)|[。．！？；;۔؟।॥\n\r]+/gu;

/** The sentences of a task, each a search of its own; one where it cannot be split. */
export function splitClauses(query: string): string[] {
  const clauses: string[] = [];
  for (const piece of query.split(ENDS)) {
    const clause = piece.trim();
    if (clause === "") continue;
    const last = clauses.length - 1;
    const joins = last >= 0 && (weightOf(clause) < MIN_LENGTH || clauses.length === MAX_CLAUSES);
    if (joins) clauses[last] += `. ${clause}`;
    else clauses.push(clause);
  }
  return clauses;
}

function weightOf(clause: string): number {
  return startsUnspaced().test(clause) ? clause.length * 2 : clause.length;
}
