import { splitCompounds } from "../analysis/split-compounds.ts";
import type { SearchDocument } from "../port/search-index.ts";

/** Turns texts into vectors, one for each text, in order. */
export interface Embedder {
  /** Names the model and its version: vectors with different ids must never be compared. */
  readonly id: string;
  /** 0 until it is known, which only an embedder at an endpoint may return before its first answer. */
  readonly dimensions: number;
  /** Whether it embeds in microseconds, so that a first search can wait for a whole catalog. */
  readonly isInstant?: boolean;
  /** Vectors of length one; all zeroes for a text without known words. */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  /** The same for documents, if the model embeds them in another way than queries. */
  embedDocuments?(texts: readonly string[]): Promise<Float32Array[]>;
  /** Whether the model was made for the language of a query. Default: true. */
  reads?(query: string): boolean;
  /** How well it knows the language of a query, 0 to 1. Default: 1. */
  fluency?(query: string): number;
  /** Reads a query that is not in English; undefined for others. */
  readForeign?(query: string): Promise<ForeignQuery | undefined>;
}

/** A query in a language that may differ from the catalog's. */
export interface ForeignQuery {
  /** Its words that are not English, folded and in lower case: none is a misspelt word of the catalog. */
  readonly words: ReadonlySet<string>;
  /** The query with its verbs replaced by verbs of tools; undefined if it has none. */
  readonly inVerbsOfTools?: string | undefined;
}

/** Scales the vector to length one, in place; all zeroes stay. */
export function normalize(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const component of vector) sum += component * component;
  if (sum === 0) return vector;
  const factor = 1 / Math.sqrt(sum);
  for (let index = 0; index < vector.length; index++) vector[index]! *= factor;
  return vector;
}

/** The product of two vectors: their cosine, if both have length one. */
export function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0);
}

const MAX_ALIASES = 200;
const MAX_DESCRIPTION = 300;
const MAX_DOMAIN = 200;
const MAX_NAME_WORDS = 32;

/** The text to embed for a document: names as words, and the beginning of its descriptions. */
export function vectorText(document: SearchDocument): string {
  const parts = [
    asWords(document.name),
    asWords(document.aliases.join(". ").slice(0, MAX_ALIASES)),
    document.description.slice(0, MAX_DESCRIPTION),
    document.domainText.slice(0, MAX_DOMAIN),
  ];
  return parts.filter((part) => part.trim() !== "").join(". ");
}

function asWords(name: string): string {
  return splitCompounds(name, MAX_NAME_WORDS)
    .flatMap((compound) => compound.parts)
    .join(" ");
}
