import type { QueryWords } from "../analysis/analyze-query.ts";
import { DOMAIN_SIGN, NAME_SIGN } from "../lexical/name-key.ts";
import type { NearTerm } from "../lexical/near-terms.ts";
import { type Dictionary, weighWords } from "../lexical/weigh-words.ts";
import { fromStoredText, toStoredText } from "../port/stored-text.ts";
import { nearWords } from "./near-words.ts";
import { type PostgresClient, queryRows } from "./postgres-client.ts";
import type { TableNames } from "./table-names.ts";

/** The dictionary of one caller. */
export interface CallerDictionary extends Dictionary {
  /** The caller may see every document. */
  readonly seesAll: boolean;
}

/** Fetches in advance everything that weighing these queries needs, of the documents that the caller may see. */
export async function askDictionary(
  client: PostgresClient,
  names: TableNames,
  queries: readonly QueryWords[],
  scopes: readonly string[],
): Promise<CallerDictionary> {
  const wanted = new Set<string>();
  const nothingKnown = { size: 0, near: () => [], mayHaveName: () => true, isSpeltSo: () => false };
  weighAll(queries, {
    ...nothingKnown,
    frequencyOf: (term) => {
      wanted.add(term);
      return 0;
    },
  });
  const known = await askTerms(client, names, [...wanted], scopes);
  const unknown = new Set<string>();
  weighAll(queries, {
    ...known,
    near: (word) => {
      unknown.add(word);
      return [];
    },
  });
  const near = new Map<string, readonly NearTerm[]>();
  const frequencies = new Map<string, number>();
  for (const word of unknown) {
    const found = await nearWords(client, names, word, scopes);
    near.set(word, found);
    for (const { term, documents } of found) frequencies.set(term, documents);
  }
  return {
    ...known,
    near: (word) => near.get(word) ?? [],
    frequencyOf: (term) => frequencies.get(term) ?? known.frequencyOf(term),
  };
}

function weighAll(queries: readonly QueryWords[], dictionary: Dictionary): void {
  for (const words of queries) weighWords(words, dictionary);
}

/** Fetches, in one query, how many documents have each term and how names are spelt. */
async function askTerms(
  client: PostgresClient,
  names: TableNames,
  terms: readonly string[],
  scopes: readonly string[],
): Promise<Omit<CallerDictionary, "near">> {
  const stored = terms.map(toStoredText);
  const rows = await queryRows(
    client,
    `select null as term, coalesce(sum(documents) filter (where scopes <@ $3::text[]), 0)::int as documents,
       coalesce(sum(documents), 0)::int as print
     from ${names.state}
     union all
     select term, sum(documents)::int, null from ${names.terms}
     where term = any($1::text[]) and scopes <@ $3::text[] group by term
     union all
     select distinct p.term, 0, p.impact from ${names.postings} p join ${names.documents} d on d.number = p.document
     where p.term = any($2::text[]) and d.scopes <@ $3::text[]`,
    [
      stored,
      stored.filter((term) => term.startsWith(NAME_SIGN) && !term.startsWith(DOMAIN_SIGN)),
      scopes.map(toStoredText),
    ],
  );
  const frequencies = new Map<string, number>();
  const spellings = new Set<string>();
  let size = 0;
  let all = 0;
  for (const { term, documents, print } of rows) {
    if (typeof term !== "string") [size, all] = [Number(documents), Number(print)];
    else if (print === null) frequencies.set(fromStoredText(term), Number(documents));
    else spellings.add(`${fromStoredText(term)} ${print}`);
  }
  return {
    size,
    seesAll: size === all,
    frequencyOf: (term) => frequencies.get(term) ?? 0,
    mayHaveName: () => true,
    isSpeltSo: (key, print) => spellings.has(`${NAME_SIGN}${key} ${print}`),
  };
}
