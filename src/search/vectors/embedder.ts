import { splitCompounds } from "../analysis/split-compounds.ts";
import type { SearchDocument } from "../port/search-index.ts";

/** Turns texts into vectors, one for each text, in order. */
export interface Embedder {
  /** Names the model and its version: vectors of different ids must never meet. */
  readonly id: string;
  /** 0 while it is not known, which only an embedder at an endpoint may say before its first answer. */
  readonly dimensions: number;
  /** Embeds in microseconds, so that a first search can wait for the vectors of a whole catalog. */
  readonly isInstant?: boolean;
  /** Vectors of length one; a text in which the model knows nothing gives all zeroes. */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  /** The same for texts that are searched, where they are embedded otherwise than queries. */
  embedDocuments?(texts: readonly string[]): Promise<Float32Array[]>;
  /** Whether a query is in a language it was made for; without it, every query is. */
  reads?(query: string): boolean;
  /** How well it knows the language of a query, 0 to 1; without it, every query is known in full. */
  fluency?(query: string): number;
  /** Reads a query that is not in English; undefined for all others. */
  readForeign?(query: string): Promise<ForeignQuery | undefined>;
}

/** A query in a language that the catalog may not speak. */
export interface ForeignQuery {
  /** Its words that are not English, folded and in lower case: none of them is a misspelt word of the catalog. */
  readonly words: ReadonlySet<string>;
  /** The query with verbs of tools in the place of its own ones; undefined if it has none. */
  readonly inVerbsOfTools?: string | undefined;
}

/** Scales the vector to length one, in place; all zeroes stay as they are. */
export function normalize(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const component of vector) sum += component * component;
  if (sum === 0) return vector;
  const factor = 1 / Math.sqrt(sum);
  for (let index = 0; index < vector.length; index++) vector[index]! *= factor;
  return vector;
}

/** The product of two vectors; of those of length one, their cosine. */
export function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0);
}

const MAX_ALIASES = 200;
const MAX_DESCRIPTION = 300;
const MAX_DOMAIN = 200;
const MAX_NAME_WORDS = 32;

/** The text whose vector stands for a document: names as words, the beginning of what describes it. */
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
