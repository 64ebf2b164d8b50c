import { splitClauses } from "./split-clauses.ts";

/** Verbs that start a request. */
const VERBS =
  "add|analyze|approve|archive|assign|book|build|buy|calculate|cancel|change|check|clone|close|comment|compare|compute|convert|copy|count|create|delete|deploy|download|draw|edit|email|execute|export|extract|fetch|fill|filter|find|format|generate|get|give|import|install|invite|list|look|make|mark|merge|move|notify|open|order|pay|play|plot|post|print|publish|query|read|record|remind|remove|rename|reply|report|reserve|restart|run|save|schedule|search|send|set|share|show|start|stop|store|submit|subscribe|summarize|tell|translate|update|upload|view|write";
/** Between two needs; the second starts with a verb. */
const BETWEEN = new RegExp(
  `(?:\\s*[,;]\\s*(?:and\\s+)?(?:then\\s+|also\\s+|finally\\s+|after that\\s+)?|\\s+(?:and|then)(?:\\s+(?:then|also|finally))?\\s+)(?=(?:please\\s+)?(?:${VERBS})\\b)|\\s*[，；、]?(?:然后|接着|并且|最后)`,
  "giu",
);
const MAX_NEEDS = 4;
const MAX_LENGTH = 1_024;
/** A need has a verb and a thing. */
const MIN_WORDS = 2;

/**
 * The needs of a sentence, each to be searched for by itself: "create an issue and email the team" has two. One
 * need comes back as it is. Longer texts than a query are looked at by their beginning.
 */
export function splitNeeds(query: string): string[] {
  const parts = splitClauses(query.slice(0, MAX_LENGTH)).flatMap((clause) => clause.split(BETWEEN));
  const needs: string[] = [];
  for (const part of parts.map((piece) => piece.trim()).filter((piece) => piece !== "")) {
    const last = needs.length - 1;
    const joins = last >= 0 && (!isNeed(part) || !isNeed(needs[last]!) || needs.length === MAX_NEEDS);
    if (joins) needs[last] += `, ${part}`;
    else needs.push(part);
  }
  return needs.length > 1 ? needs : [query];
}

function isNeed(part: string): boolean {
  const words = part.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length >= MIN_WORDS || /\p{Script=Han}{3}/u.test(part);
}
