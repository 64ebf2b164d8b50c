import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CorpusDocument } from "../corpus.ts";
import type { CreateEngine } from "./engine.ts";
import { loadPeer } from "./peers.ts";

type Database = { readonly orama: unique symbol };
interface Orama {
  create(options: { schema: Record<string, string> }): Database;
  insertMultiple(
    database: Database,
    documents: readonly CorpusDocument[],
    batchSize: number,
  ): Promise<unknown>;
  search(database: Database, parameters: object): Promise<{ hits: { id: string }[] }>;
  update(database: Database, id: string, document: CorpusDocument): Promise<unknown>;
  save(database: Database): unknown;
  load(database: Database, raw: unknown): void;
}

const PROPERTIES = ["name", "description", "parameters"];

export const createEngine: CreateEngine = (folder) => {
  const orama = loadPeer<Orama>("@orama/orama");
  const path = join(folder, "orama.json");
  const schema = Object.fromEntries(["id", ...PROPERTIES].map((name) => [name, "string"]));
  const database = orama.create({ schema });
  return {
    async build(batches) {
      for (const batch of batches) await orama.insertMultiple(database, batch, batch.length);
    },
    async search(term, limit) {
      const { hits } = await orama.search(database, {
        term,
        limit,
        properties: PROPERTIES,
        boost: { name: 3 },
      });
      return hits.map((hit) => hit.id);
    },
    async upsert(document) {
      await orama.update(database, document.id, document);
    },
    save: async () => writeFile(path, JSON.stringify(await orama.save(database))),
    async reopen() {
      await orama.load(database, JSON.parse(await readFile(path, "utf8")));
    },
    close() {},
  };
};
