import { boundedDistance } from "../../base/util/nearest.ts";
import { fromStoredText, toStoredText } from "../../core/storage/postgres-client.ts";
import { lettersOf } from "../../search/lexical/live-segment.ts";
import {
  editsAllowed,
  editsWorth,
  hasNear,
  MAX_LOOKED_AT,
  type NearTerm,
  prefixWorth,
} from "../../search/lexical/near-terms.ts";
import { WORDS } from "../../search/ranking/tuning.ts";
import type { IndexTables } from "./index-tables.ts";

/** An indexed term that an unknown word may stand for. */
export interface NearWord extends NearTerm {
  readonly documents: number;
}

const MAX_ALIKE = 2_000;

/**
 * Finds the terms nearest to a word that none of the caller's documents has: terms that start with it, and similar
 * spellings. The server filters by length and letters, which needs no extension and misses none; the edit distance is
 * computed here.
 */
export async function nearWords(
  { names, query }: IndexTables,
  word: string,
  scopes: readonly string[],
): Promise<NearWord[]> {
  if (!hasNear(word)) return [];
  const edits = editsAllowed(word);
  const rows = await query(
    `(select term, sum(documents)::int as documents from ${names.terms}
      where term >= $1 and term < $1 || chr(1114111) and length > 0 and scopes <@ $6::text[]
      group by term order by term limit ${MAX_LOOKED_AT})
     union
     (select term, sum(documents)::int from ${names.terms}
      where $5::int > 0 and length between $2::int and $3::int and length > 0 and scopes <@ $6::text[]
        and bit_count((letters # $4::int)::bit(32)) <= 2 * $5::int
      group by length, letters, term order by length, letters, term limit ${MAX_ALIKE})`,
    [
      toStoredText(word),
      word.length - edits,
      word.length + edits,
      lettersOf(word),
      edits,
      scopes.map(toStoredText),
    ],
  );
  const near = rows.map(({ term, documents }): NearWord => {
    const text = fromStoredText(String(term));
    return { term: text, documents: Number(documents), worth: worthOf(word, text, edits) };
  });
  return near
    .filter(({ worth }) => worth > 0)
    .sort((one, other) => other.worth - one.worth || (one.term < other.term ? -1 : 1))
    .slice(0, WORDS.maxNear);
}

function worthOf(word: string, term: string, edits: number): number {
  const prefixed = term.startsWith(word) ? prefixWorth(word, term) : 0;
  if (edits === 0) return prefixed;
  const distance = boundedDistance(word, term, edits);
  return distance === undefined ? prefixed : Math.max(prefixed, editsWorth(distance));
}
