import { join } from "node:path";
import {
  createEmbeddedIndex,
  type EmbeddedIndex,
  openEmbeddedIndex,
} from "../../src/search/embedded-index.ts";
import type { SearchDocument } from "../../src/search/port/search-index.ts";
import type { CreateEngine } from "./engine.ts";
import { toSearchDocument } from "./to-search-document.ts";

/** Every put makes a segment that is merged later, so a large catalog is put in large batches. */
const DOCUMENTS_PER_PUT = 64_000;

/** Keyhole's index without vectors. */
export const createEngine: CreateEngine = (folder) => {
  const path = join(folder, "search.snapshot");
  let index: EmbeddedIndex = createEmbeddedIndex();
  return {
    async build(batches) {
      let waiting: SearchDocument[] = [];
      for (const batch of batches) {
        waiting.push(...batch.map(toSearchDocument));
        if (waiting.length < DOCUMENTS_PER_PUT) continue;
        await index.put(waiting);
        waiting = [];
      }
      await index.put(waiting);
      await index.settled();
    },
    async search(query, limit) {
      const hits = await index.search({ query, limit, filter: { scopes: [] } });
      return hits.map((hit) => hit.id);
    },
    upsert: (document) => index.put([toSearchDocument(document)]),
    save: () => index.save(path),
    async reopen() {
      const opened = await openEmbeddedIndex(path);
      if (!opened.ok) throw new Error(opened.reason);
      index = opened.value;
    },
    close: () => index.close(),
  };
};
