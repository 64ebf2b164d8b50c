import { createVectorStore } from "../../../src/search/vectors/vector-store.ts";
import type { CreateVectorEngine } from "./engine.ts";

export const createEngine: CreateVectorEngine = (_, dimensions) => create(dimensions);

/** Every vector is compared. */
export const createExact: CreateVectorEngine = (_, dimensions) =>
  create(dimensions, Number.POSITIVE_INFINITY);

function create(dimensions: number, codedFrom?: number): ReturnType<CreateVectorEngine> {
  const store = createVectorStore(dimensions, codedFrom === undefined ? {} : { codedFrom });
  return {
    add(first, vectors) {
      vectors.forEach((vector, at) => {
        store.put(String(first + at), vector);
      });
    },
    finish() {
      if (store.wantsCodes) for (const _ of store.makeCodes());
    },
    search: (query, limit) => store.search(query, limit).map(({ slot }) => slot),
    close() {},
  };
}
