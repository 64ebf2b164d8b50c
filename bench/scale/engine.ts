import type { CorpusDocument } from "../corpus.ts";

/** A search engine under measurement: top hits by any of the words, over name, description and parameters. */
export interface Engine {
  /** Indexes all documents. Resolves when background work is done too. */
  build(batches: Iterable<CorpusDocument[]>): Promise<void>;
  /** The ids of the best documents, best first. */
  search(query: string, limit: number): Promise<string[]> | string[];
  /** Replaces one document. Absent if the engine cannot. */
  upsert?(document: CorpusDocument): Promise<void> | void;
  /** Writes what `reopen` needs into the engine's folder. */
  save(): Promise<void>;
  /** Opens what an earlier process saved in the folder, instead of `build`. */
  reopen(): Promise<void>;
  close(): Promise<void> | void;
}

/** Makes an engine that may keep files in `folder`. */
export type CreateEngine = (folder: string) => Engine;
