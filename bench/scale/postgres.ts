import pg from "pg";
import { createPostgresIndex } from "../../src/postgres/search/postgres-index.ts";
import type { CreateEngine } from "./engine.ts";
import { toSearchDocument } from "./to-search-document.ts";

const DOCUMENTS_PER_PUT = 4_000;

/** Keyhole's index in the PostgreSQL server of `KEYHOLE_POSTGRES_URL`, without vectors. */
export const createEngine: CreateEngine = () => {
  const client = new pg.Pool({ connectionString: process.env.KEYHOLE_POSTGRES_URL! });
  const index = createPostgresIndex({ client, table: "keyhole_bench" });
  return {
    async build(batches) {
      await client.query(DROP_OLD);
      let waiting = [];
      for (const batch of batches) {
        waiting.push(...batch.map(toSearchDocument));
        if (waiting.length < DOCUMENTS_PER_PUT) continue;
        await index.put(waiting);
        waiting = [];
      }
      await index.put(waiting);
      // As the server does by itself within a minute.
      await client.query("vacuum analyze");
    },
    async search(query, limit) {
      const hits = await index.search({ query, limit, filter: { scopes: [] } });
      return hits.map((hit) => hit.id);
    },
    upsert: (document) => index.put([toSearchDocument(document)]),
    async save() {},
    async reopen() {},
    close: () => client.end(),
  };
};

const DROP_OLD = `do $$
declare
  name text;
begin
  for name in select format('table %I', tablename) from pg_tables where tablename like 'keyhole_bench%' loop
    execute 'drop ' || name || ' cascade';
  end loop;
  for name in select format('function %I', proname) from pg_proc where proname like 'keyhole_bench%' loop
    execute 'drop ' || name || ' cascade';
  end loop;
end
$$`;
