import type { SearchDocument } from "../port/search-index.ts";
import { documentPostings } from "./document-postings.ts";
import { FacetTable } from "./facet-table.ts";
import { GrowingArray } from "./growing-array.ts";
import type { Segment } from "./segment.ts";
import { StringTable } from "./string-table.ts";

/** Makes a segment of documents with distinct ids. */
export function buildSegment(documents: readonly SearchDocument[]): Segment {
  const ordered = documents.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const facets = new FacetTable();
  const facetOf = new Uint32Array(ordered.length);
  const termNumbers = new Map<string, number>();
  const terms = new GrowingArray(Uint32Array);
  const owners = new GrowingArray(Uint32Array);
  const impacts = new GrowingArray(Uint16Array);
  const fields = new GrowingArray(Uint8Array);
  ordered.forEach((document, number) => {
    facetOf[number] = facets.intern(document);
    for (const [term, posting] of documentPostings(document)) {
      const termNumber = termNumbers.get(term) ?? termNumbers.size;
      if (termNumber === termNumbers.size) termNumbers.set(term, termNumber);
      terms.push(termNumber);
      owners.push(number);
      impacts.push(posting.impact);
      fields.push(posting.fields);
    }
  });

  const dictionary = [...termNumbers.keys()].sort();
  const rankOf = new Uint32Array(dictionary.length);
  dictionary.forEach((term, rank) => {
    rankOf[termNumbers.get(term)!] = rank;
  });
  const starts = new Uint32Array(dictionary.length + 1);
  for (let at = 0; at < terms.length; at++) starts[rankOf[terms.values[at]!]! + 1]!++;
  for (let rank = 0; rank < dictionary.length; rank++) starts[rank + 1]! += starts[rank]!;
  const next = starts.slice();
  const segment = {
    ids: StringTable.from(ordered.map((document) => document.id)),
    terms: StringTable.from(dictionary),
    starts,
    documents: new Uint32Array(terms.length),
    impacts: new Uint16Array(terms.length),
    fields: new Uint8Array(terms.length),
    maxImpacts: new Uint16Array(dictionary.length),
    facets: facets.facets,
    facetOf,
  };
  // Postings were gathered in document order, so each term's list comes out ascending.
  for (let at = 0; at < terms.length; at++) {
    const rank = rankOf[terms.values[at]!]!;
    const to = next[rank]!++;
    segment.documents[to] = owners.values[at]!;
    segment.impacts[to] = impacts.values[at]!;
    segment.fields[to] = fields.values[at]!;
    if (impacts.values[at]! > segment.maxImpacts[rank]!) segment.maxImpacts[rank] = impacts.values[at]!;
  }
  return segment;
}
