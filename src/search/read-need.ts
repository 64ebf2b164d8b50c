import { cutQuery, type WordQuery } from "./analysis/analyze-query.ts";
import { plainNeed } from "./analysis/plain-need.ts";
import type { Embedder } from "./vectors/embedder.ts";

/** A query as it is searched by words and by vectors, which need no verbs translated. */
export interface Need extends WordQuery {
  /** With what it means in the words of tools beside its own. */
  readonly query: string;
}

/** Reads a query in the languages that the embedder knows. Must not throw: its words still count. */
export async function readNeed(asked: string, embedder: Pick<Embedder, "readForeign"> = {}): Promise<Need> {
  const cut = cutQuery(asked);
  const query = plainNeed(cut);
  const read = await embedder.readForeign?.(cut).catch(() => undefined);
  if (read === undefined) return { query, words: query };
  const { words: foreign, inVerbsOfTools } = read;
  return { query, words: inVerbsOfTools ? `${query} ${plainNeed(inVerbsOfTools)}` : query, foreign };
}
