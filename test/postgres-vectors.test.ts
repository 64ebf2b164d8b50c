import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { createPostgresIndex } from "keyhole/postgres";
import { createEmbeddedIndex, createStaticEmbedder } from "keyhole/search";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { createCorpus } from "../bench/corpus.ts";
import { toSearchDocument } from "../bench/scale/to-search-document.ts";
import type { PostgresClient } from "../src/core/storage/postgres-client.ts";

const embedder = createStaticEmbedder();
const schema = `keyhole_vectors_${process.pid}`;
const url = process.env.KEYHOLE_POSTGRES_URL;

const pglite = new PGlite({ extensions: { vector } });
afterAll(() => pglite.close());
compareVectors("PostgreSQL in process", pglite);

const pool = url ? new pg.Pool({ connectionString: url, max: 4 }) : undefined;
afterAll(async () => {
  await pool?.query(`drop schema if exists "${schema}" cascade`);
  await pool?.end();
});
const reason = await whyNot(pool);
if (reason === undefined) compareVectors("PostgreSQL server", pool!);
else test.skip(`vectors on a PostgreSQL server (skipped: ${reason})`, () => {});

async function whyNot(server: pg.Pool | undefined): Promise<string | undefined> {
  if (server === undefined) return "KEYHOLE_POSTGRES_URL is not set; scripts/start-postgres.sh gives one";
  const { rows } = await server.query("select from pg_available_extensions where name = 'vector'");
  return rows.length > 0 ? undefined : "the server has no pgvector";
}

function compareVectors(name: string, client: PostgresClient): void {
  test(`${name} ranks by words and vectors in the order of the embedded engine`, async () => {
    await client.query(`create schema if not exists "${schema}"`);
    const index = createPostgresIndex({ client, table: `${schema}.words`, embedder });
    const embedded = createEmbeddedIndex({ embedder });
    const corpus = createCorpus();
    const documents = Array.from({ length: 400 }, (_, number) => toSearchDocument(corpus.at(number)));
    for (const one of [index, embedded]) await one.put(documents);
    await embedded.settled();
    for (const query of [...corpus.queries(60, 400), "wie ist das Wetter", "给团队发消息"]) {
      const request = { query, limit: 10, filter: { scopes: [] } };
      expect(idsIn(await index.search(request)), query).toEqual(idsIn(await embedded.search(request)));
    }
    expect(await index.status()).toEqual({ mode: "hybrid" });
  });
}

function idsIn(hits: readonly { readonly id: string }[]): string[] {
  return hits.map(({ id }) => id);
}
