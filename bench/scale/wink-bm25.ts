import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CorpusDocument } from "../corpus.ts";
import type { CreateEngine } from "./engine.ts";
import { loadPeer } from "./peers.ts";

interface Wink {
  defineConfig(config: { fldWeights: Record<string, number> }): void;
  definePrepTasks(tasks: readonly unknown[]): void;
  addDoc(document: CorpusDocument, id: string): void;
  consolidate(): void;
  search(query: string, limit: number): [id: string, score: number][];
  exportJSON(): string;
  importJSON(json: string): void;
}
interface Utilities {
  readonly string: { readonly lowerCase: unknown; readonly tokenize0: unknown };
  readonly tokens: { readonly removeWords: unknown; readonly stem: unknown };
}

/** Has no upsert, because it accepts no document after its index is consolidated. */
export const createEngine: CreateEngine = (folder) => {
  const { string, tokens } = loadPeer<Utilities>("wink-nlp-utils");
  const index = loadPeer<() => Wink>("wink-bm25-text-search")();
  const path = join(folder, "wink.json");
  index.defineConfig({ fldWeights: { name: 3, description: 1, parameters: 0.4 } });
  index.definePrepTasks([string.lowerCase, string.tokenize0, tokens.removeWords, tokens.stem]);
  return {
    async build(batches) {
      for (const batch of batches) for (const document of batch) index.addDoc(document, document.id);
      index.consolidate();
    },
    search: (query, limit) => index.search(query, limit).map(([id]) => id),
    save: () => writeFile(path, index.exportJSON()),
    async reopen() {
      index.importJSON(await readFile(path, "utf8"));
    },
    close() {},
  };
};
