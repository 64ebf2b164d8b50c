import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CorpusDocument } from "../corpus.ts";
import type { CreateEngine } from "./engine.ts";
import { loadPeer } from "./peers.ts";

interface MiniSearch {
  addAll(documents: readonly CorpusDocument[]): void;
  search(query: string): { id: string }[];
  replace(document: CorpusDocument): void;
}
interface MiniSearchClass {
  new (options: object): MiniSearch;
  loadJSON(json: string, options: object): MiniSearch;
}

const OPTIONS = { fields: ["name", "description", "parameters"], searchOptions: { boost: { name: 3 } } };

export const createEngine: CreateEngine = (folder) => {
  const MiniSearch = loadPeer<MiniSearchClass>("minisearch");
  const path = join(folder, "minisearch.json");
  let index = new MiniSearch(OPTIONS);
  return {
    async build(batches) {
      for (const batch of batches) index.addAll(batch);
    },
    search(query, limit) {
      const hits = index.search(query).slice(0, limit);
      return hits.map((hit) => hit.id);
    },
    upsert: (document) => index.replace(document),
    save: () => writeFile(path, JSON.stringify(index)),
    async reopen() {
      index = MiniSearch.loadJSON(await readFile(path, "utf8"), OPTIONS);
    },
    close() {},
  };
};
