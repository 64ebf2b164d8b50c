import { QUERY } from "../ranking/tuning.ts";
import { startsUnspaced } from "./split-compounds.ts";
import { REQUEST_VERBS } from "./tool-verbs.ts";

/** Separates two needs; the second starts with a verb. */
const BETWEEN = new RegExp(
  `(?:\\s*[,;]\\s*(?:and\\s+)?(?:then\\s+|also\\s+|finally\\s+|after that\\s+)?|\\s+(?:and|then)(?:\\s+(?:then|also|finally))?\\s+)(?=(?:please\\s+)?(?:${REQUEST_VERBS.join("|")})\\b)|\\s*[，；、]?(?:然后|接着|并且|最后)`,
  "giu",
);

/**
 * Splits a sentence into needs to search separately: "create an issue and email the team" has two. A single need stays
 * unchanged. Only the beginning of long texts is split.
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

/** Ends of sentences and items in any script. A full stop only before white space, because names contain dots. */
const ENDS = /[.!?;]+(?=\s|$)|[。．！？；;۔؟।॥\n\r]+/gu;

/** The sentences of a task, to search separately; a single one if it cannot be split. */
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

/** A query, followed by its clauses if it has several. */
export function queryParts(query: string): readonly string[] {
  const clauses = splitClauses(query);
  return clauses.length < 2 ? [query] : [query, ...clauses];
}

function weightOf(clause: string): number {
  return startsUnspaced().test(clause) ? clause.length * 2 : clause.length;
}
