import type { SearchDocument, SearchField } from "../port/search-index.ts";

/** How one field of a document counts. */
export interface FieldRule {
  readonly field: SearchField;
  readonly weight: number;
  /** The length, in words, at which a field is neither raised nor lowered. Fixed, so that no document's
   *  score depends on another's length. */
  readonly pivot: number;
  /** How much length matters, 0 to 1. */
  readonly lengthPenalty: number;
  /** Repetitions of a word beyond this add nothing: stuffing does not pay. */
  readonly maxRepeats: number;
  /** Words beyond this are not indexed. */
  readonly maxWords: number;
}

/** The order is the order of the bits in a posting's field mask. */
export const FIELD_RULES: readonly FieldRule[] = [
  { field: "name", weight: 3, pivot: 3, lengthPenalty: 0.5, maxRepeats: 2, maxWords: 32 },
  { field: "aliases", weight: 2, pivot: 12, lengthPenalty: 0.5, maxRepeats: 2, maxWords: 256 },
  { field: "description", weight: 1, pivot: 16, lengthPenalty: 0.5, maxRepeats: 4, maxWords: 512 },
  { field: "parameters", weight: 0.4, pivot: 40, lengthPenalty: 0.75, maxRepeats: 4, maxWords: 1024 },
  { field: "domainText", weight: 0.8, pivot: 20, lengthPenalty: 0.5, maxRepeats: 2, maxWords: 256 },
  { field: "content", weight: 0.5, pivot: 200, lengthPenalty: 0.5, maxRepeats: 8, maxWords: 4096 },
];

/** Half of a term's greatest possible worth is reached at this weighted frequency (BM25's k1). */
export const SATURATION = 1.2;

/** Impacts are kept as integers of 16 bits; this one stands for 1. */
export const FULL_IMPACT = 65_535;

export function textOf(document: SearchDocument, field: SearchField): string {
  const value = document[field];
  return typeof value === "string" ? value : value.join("\n");
}
