import type { SearchDocument } from "../port/search-index.ts";
import { FacetTable } from "./facet-table.ts";
import { HashBits } from "./hash-bits.ts";
import type { Facet, Segment } from "./segment.ts";
import { StringTable } from "./string-table.ts";

/** Documents by field: much cheaper to send to another thread than one by one. */
export interface DocumentColumns {
  readonly ids: readonly string[];
  readonly names: readonly string[];
  readonly aliases: readonly SearchDocument["aliases"][];
  readonly descriptions: readonly string[];
  readonly parameters: readonly string[];
  readonly domainTexts: readonly string[];
  readonly contents: readonly string[];
  readonly weights: readonly SearchDocument["weights"][];
  readonly facets: readonly Facet[];
  readonly facetOf: Uint32Array;
}

export function toColumns(documents: readonly SearchDocument[]): DocumentColumns {
  const table = new FacetTable();
  const facetOf = Uint32Array.from(documents, (document) => table.intern(document));
  return {
    ids: documents.map(({ id }) => id),
    names: documents.map(({ name }) => name),
    aliases: documents.map(({ aliases }) => aliases),
    descriptions: documents.map(({ description }) => description),
    parameters: documents.map(({ parameters }) => parameters),
    domainTexts: documents.map(({ domainText }) => domainText),
    contents: documents.map(({ content }) => content),
    weights: documents.map(({ weights }) => weights),
    facets: table.facets,
    facetOf,
  };
}

/** The documents again, all of them shown. */
export function* fromColumns(columns: DocumentColumns): Generator<SearchDocument> {
  for (let at = 0; at < columns.ids.length; at++) {
    const weights = columns.weights[at];
    yield {
      ...columns.facets[columns.facetOf[at]!]!,
      visibility: "listed",
      id: columns.ids[at]!,
      name: columns.names[at]!,
      aliases: columns.aliases[at]!,
      description: columns.descriptions[at]!,
      parameters: columns.parameters[at]!,
      domainText: columns.domainTexts[at]!,
      content: columns.contents[at]!,
      ...(weights && { weights }),
    };
  }
}

/** A segment without its methods. Arrays move from thread to thread without being copied. */
export interface SegmentMessage extends Omit<Segment, "ids" | "terms" | "names"> {
  readonly ids: Pick<StringTable, "units" | "offsets">;
  readonly terms: Pick<StringTable, "units" | "offsets">;
  readonly names: Pick<HashBits, "words">;
}

export function toMessage(segment: Segment): { message: SegmentMessage; moved: ArrayBuffer[] } {
  const { ids, terms, names, facets, ...arrays } = segment;
  const message = {
    ...arrays,
    facets,
    ids: { units: ids.units, offsets: ids.offsets },
    terms: { units: terms.units, offsets: terms.offsets },
    names: { words: names.words },
  };
  const views = [...Object.values(arrays), ids.units, ids.offsets, terms.units, terms.offsets, names.words];
  return { message, moved: [...new Set(views.map((view) => view.buffer as ArrayBuffer))] };
}

export function fromMessage({ ids, terms, names, ...arrays }: SegmentMessage): Segment {
  return {
    ...arrays,
    ids: new StringTable(ids.units, ids.offsets),
    terms: new StringTable(terms.units, terms.offsets),
    names: new HashBits(names.words),
  };
}
