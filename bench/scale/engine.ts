import type { CorpusDocument } from "../corpus.ts";

/** A search engine under measurement: top hits by any of the words, over name, description and parameters. */
export interface Engine {
  /** Takes in all documents and is done with its work in the background when it resolves. */
  build(batches: Iterable<CorpusDocument[]>): Promise<void>;
  /** The ids of the best documents, best first. */
  search(query: string, limit: number): Promise<string[]> | string[];
  /** Replaces one document; absent where the engine cannot. */
  upsert?(document: CorpusDocument): Promise<void> | void;
  /** Writes what `reopen` needs into the engine's folder. */
  save(): Promise<void>;
  /** Instead of `build`: starts from what an earlier process saved in the folder. */
  reopen(): Promise<void>;
  close(): Promise<void> | void;
}

/** Makes an engine that may keep files in `folder`. */
export type CreateEngine = (folder: string) => Engine;
