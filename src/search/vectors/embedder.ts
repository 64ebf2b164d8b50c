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
