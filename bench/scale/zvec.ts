import { join } from "node:path";
import type { CorpusDocument } from "../corpus.ts";
import type { CreateEngine } from "./engine.ts";
import { loadPeer } from "./peers.ts";
import { toOneText } from "./to-one-text.ts";

interface Collection {
  insertSync(documents: readonly object[]): unknown;
  upsertSync(document: object): unknown;
  optimizeSync(): void;
  querySync(query: object): { id: string }[];
  closeSync(): void;
}
interface Zvec {
  readonly ZVecDataType: { readonly STRING: number };
  readonly ZVecIndexType: { readonly FTS: number };
  readonly ZVecCollectionSchema: new (schema: object) => object;
  ZVecCreateAndOpen(path: string, schema: object): Collection;
  ZVecOpen(path: string): Collection;
}

const FIELD = "text";

export const createEngine: CreateEngine = (folder) => {
  const zvec = loadPeer<Zvec>("@zvec/zvec");
  const path = join(folder, "zvec");
  let collection: Collection | undefined;
  return {
    async build(batches) {
      const indexParams = { indexType: zvec.ZVecIndexType.FTS, filters: ["lowercase", "stemmer"] };
      const field = { name: FIELD, dataType: zvec.ZVecDataType.STRING, indexParams };
      const schema = new zvec.ZVecCollectionSchema({ name: "documents", vectors: [], fields: [field] });
      collection = zvec.ZVecCreateAndOpen(path, schema);
      for (const batch of batches) collection.insertSync(batch.map(toRow));
      collection.optimizeSync();
    },
    search(query, limit) {
      const hits = collection!.querySync({
        fieldName: FIELD,
        topk: limit,
        fts: { matchString: query },
        outputFields: [],
      });
      return hits.map((hit) => hit.id);
    },
    upsert(document) {
      collection!.upsertSync(toRow(document));
    },
    async save() {},
    async reopen() {
      collection = zvec.ZVecOpen(path);
    },
    close: () => collection?.closeSync(),
  };
};

function toRow(document: CorpusDocument): { id: string; fields: Record<string, string> } {
  return { id: document.id, fields: { [FIELD]: toOneText(document) } };
}
