import { join } from "node:path";
import { loadPeer } from "../peers.ts";
import type { CreateVectorEngine } from "./engine.ts";

interface Collection {
  insertSync(documents: readonly object[]): unknown;
  optimizeSync(): void;
  querySync(query: object): { id: string }[];
  closeSync(): void;
}
interface Zvec {
  readonly ZVecDataType: { readonly VECTOR_FP32: number };
  readonly ZVecIndexType: { readonly HNSW: number };
  readonly ZVecMetricType: { readonly COSINE: number };
  readonly ZVecCollectionSchema: new (schema: object) => object;
  ZVecCreateAndOpen(path: string, schema: object): Collection;
}

const FIELD = "vector";

export const createEngine: CreateVectorEngine = (folder, dimension) => {
  const zvec = loadPeer<Zvec>("@zvec/zvec");
  const indexParams = { indexType: zvec.ZVecIndexType.HNSW, metricType: zvec.ZVecMetricType.COSINE };
  const vectors = [{ name: FIELD, dataType: zvec.ZVecDataType.VECTOR_FP32, dimension, indexParams }];
  const schema = new zvec.ZVecCollectionSchema({ name: "vectors", vectors, fields: [] });
  const collection = zvec.ZVecCreateAndOpen(join(folder, "zvec"), schema);
  return {
    add(first, added) {
      collection.insertSync(
        added.map((vector, at) => ({ id: String(first + at), vectors: { [FIELD]: vector }, fields: {} })),
      );
    },
    finish: () => collection.optimizeSync(),
    search(vector, topk) {
      const hits = collection.querySync({ fieldName: FIELD, topk, vector, outputFields: [] });
      return hits.map(({ id }) => Number(id));
    },
    close: () => collection.closeSync(),
  };
};
