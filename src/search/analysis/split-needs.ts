import { QUERY } from "../ranking/tuning.ts";
import { startsUnspaced } from "./split-compounds.ts";
import { REQUEST_VERBS } from "./tool-verbs.ts";

/** Between two needs; the second starts with a verb. */
const BETWEEN = new RegExp(
  `(?:\\s*[,;]\\s*(?:and\\s+)?(?:then\\s+|also\\s+|finally\\s+|after that\\s+)?|\\s+(?:and|then)(?:\\s+(?:then|also|finally))?\\s+)(?=(?:please\\s+)?(?:${REQUEST_VERBS.join("|")})\\b)|\\s*[，；、]?(?:然后|接着|并且|最后)`,
  "giu",
);

/**
 * The needs of a sentence, each to be searched for by itself: "create an issue and email the team" has two. One
 * need comes back as it is. Longer texts than a query are looked at by their beginning.
 */
export function splitNeeds(query: string): string[] {
  const parts = splitClauses(query.slice(0, QUERY.maxLength)).flatMap((clause) => clause.split(BETWEEN));
  const needs: string[] = [];
  for (const part of parts.map((piece) => piece.trim()).filter((piece) => piece !== "")) {
    const last = needs.length - 1;
    const joins = last >= 0 && (!isNeed(part) || !isNeed(needs[last]!) || needs.length === QUERY.maxNeeds);
    if (joins) needs[last] += `, ${part}`;
    else needs.push(part);
  }
  return needs.length > 1 ? needs : [query];
}

function isNeed(part: string): boolean {
  const words = part.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length >= QUERY.minNeedWords || /\p{Script=Han}{3}/u.test(part);
}

/** Ends of sentences and items in any script; a full stop only before white space, since names have dots too. */
const ENDS = /[.!?;]+(?=\s|$)|[。．！？；;۔؟।॥\n\r]+/gu;

/** The sentences of a task, each a search of its own; one where it cannot be split. */
export function splitClauses(query: string): string[] {
  const clauses: string[] = [];
  for (const piece of query.split(ENDS)) {
    const clause = piece.trim();
    if (clause === "") continue;
    const last = clauses.length - 1;
    const joins =
      last >= 0 && (weightOf(clause) < QUERY.minClauseLength || clauses.length === QUERY.maxClauses);
    if (joins) clauses[last] += `. ${clause}`;
    else clauses.push(clause);
  }
  return clauses;
}

/** A query, and its clauses behind it where it has several. */
export function queryParts(query: string): readonly string[] {
  const clauses = splitClauses(query);
  return clauses.length < 2 ? [query] : [query, ...clauses];
}

function weightOf(clause: string): number {
  return startsUnspaced().test(clause) ? clause.length * 2 : clause.length;
}
