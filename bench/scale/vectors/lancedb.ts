import { join } from "node:path";
import { loadPeer } from "../peers.ts";
import type { CreateVectorEngine } from "./engine.ts";

interface Query {
  distanceType(type: "cosine"): Query;
  nprobes(count: number): Query;
  refineFactor(factor: number): Query;
  select(columns: readonly string[]): Query;
  limit(limit: number): Query;
  toArray(): Promise<{ id: number }[]>;
}
interface Table {
  add(rows: readonly object[]): Promise<unknown>;
  createIndex(column: string, options: { config: unknown }): Promise<void>;
  vectorSearch(vector: Float32Array): Query;
  close(): void;
}
interface Lance {
  connect(path: string): Promise<{ createTable(name: string, rows: readonly object[]): Promise<Table> }>;
  readonly Index: { ivfPq(options: object): unknown };
}

/** As many bytes a vector as Keyhole's codes, and as many vectors compared exactly. */
const CODES = 32;
const REFINED = 400;
const LISTS_LOOKED_AT = 0.25;

export const createEngine: CreateVectorEngine = (folder) => {
  const { connect, Index } = loadPeer<Lance>("@lancedb/lancedb");
  let table: Table | undefined;
  let count = 0;
  let lists = 1;
  return {
    async add(first, vectors) {
      const rows = vectors.map((vector, at) => ({ id: first + at, vector: Array.from(vector) }));
      count = first + rows.length;
      if (table === undefined)
        table = await (await connect(join(folder, "lance"))).createTable("vectors", rows);
      else await table.add(rows);
    },
    async finish() {
      lists = Math.round(Math.sqrt(count));
      const config = Index.ivfPq({ distanceType: "cosine", numPartitions: lists, numSubVectors: CODES });
      await table!.createIndex("vector", { config });
    },
    async search(query, limit) {
      const found = await table!
        .vectorSearch(query)
        .distanceType("cosine")
        .nprobes(Math.ceil(lists * LISTS_LOOKED_AT))
        .refineFactor(REFINED)
        .select(["id", "_distance"])
        .limit(limit)
        .toArray();
      return found.map(({ id }) => Number(id));
    },
    close: () => table?.close(),
  };
};
