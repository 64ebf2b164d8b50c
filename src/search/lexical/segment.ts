import type { Kind } from "../../schema/entry.ts";
import type { HashBits } from "./hash-bits.ts";
import type { StringTable } from "./string-table.ts";

/** The properties that filters test. Documents with equal properties share one. */
export interface Facet {
  readonly domain: string;
  readonly kind: Kind;
  readonly category: string;
  readonly tags: readonly string[];
  readonly scopes: readonly string[];
}

/** An immutable part of the index. Documents are numbered in the order of their ids. */
export interface Segment {
  readonly ids: StringTable;
  /** Sorted dictionary; the postings of term `t` are `starts[t] .. starts[t + 1]`. */
  readonly terms: StringTable;
  readonly starts: Uint32Array;
  /** Document numbers, ascending within a term. */
  readonly documents: Uint32Array;
  readonly impacts: Uint16Array;
  readonly fields: Uint8Array;
  /** The greatest impact of each term. */
  readonly maxImpacts: Uint16Array;
  /** The names in the dictionary, by their hashes. */
  readonly names: HashBits;
  readonly facets: readonly Facet[];
  /** The facet of each document. */
  readonly facetOf: Uint32Array;
}
