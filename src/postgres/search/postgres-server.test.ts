import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SearchDocument } from "../../search/port/search-index.ts";
import { describeIndex } from "../../testing/describe-index.ts";
import { documentOf, idsOf, SURROUNDINGS } from "../../testing/index-behaviours/index-behaviour.ts";
import { createPostgresIndex, type PostgresIndex } from "./postgres-index.ts";

const url = process.env.KEYHOLE_POSTGRES_URL;
const schema = `keyhole_test_${process.pid}`;
const pools: pg.Pool[] = [];
let tables = 0;

if (url === undefined || url === "") {
  const reason = "skipped: KEYHOLE_POSTGRES_URL is not set; scripts/start-postgres.sh gives one";
  console.info(`PostgreSQL server (${reason})`);
  test.skip(`PostgreSQL server (${reason})`, () => {});
} else {
  describeServer();
}

function describeServer(): void {
  beforeAll(async () => {
    await openPool().query(`create schema "${schema}"`);
  });
  afterAll(async () => {
    await openPool().query(`drop schema "${schema}" cascade`);
    await Promise.all(pools.map((pool) => pool.end()));
  });

  const shared = openPool();
  describeIndex("PostgreSQL server", () => openIndex(shared, nextTable()), { describe, test });

  describe("many gateways over one PostgreSQL", () => {
    test("create the tables once when eight start together", async () => {
      const table = nextTable();
      const indexes = Array.from({ length: 8 }, () => openIndex(openPool(), table));
      await Promise.all(
        indexes.map((index, at) => index.put([documentOf({ id: `doc-${at}`, name: "walrus" })])),
      );
      for (const index of indexes) expect(await idsOf(index, "walrus")).toHaveLength(8);
    });

    test("lose nothing and never deadlock with eight writers and a reader", async () => {
      const table = nextTable();
      const writers = Array.from({ length: 8 }, () => openIndex(openPool(), table));
      const reader = openIndex(openPool(), table);
      let writing = true;
      const reading = readWhile(reader, () => writing);
      await Promise.all(writers.map((writer, at) => putOwnAndShared(writer, at)));
      writing = false;
      const seen = await reading;
      expect(seen.every((count, at) => at === 0 || count >= seen[at - 1]!)).toBe(true);
      for (const owner of [0, 3, 7]) {
        expect(await idsOf(reader, `owner${letter(owner)}`, {}, 1_000)).toHaveLength(200);
      }
      expect(await idsOf(reader, "contested", {}, 1_000)).toHaveLength(50);
      await expectExactCounts(table);
    });

    test("end in one of the two states when two write the same documents in opposite orders", async () => {
      const table = nextTable();
      const [one, other] = [openIndex(openPool(), table), openIndex(openPool(), table)];
      const documents = ownDocuments(0);
      for (let round = 0; round < 5; round++) {
        const renamed = documents.toReversed().map((document) => ({ ...document, name: "penguin" }));
        await Promise.all([one.put(documents), other.put(renamed), one.drop([documents[0]!.id])]);
      }
      const penguins = await idsOf(one, "penguin", {}, 1_000);
      const ownNames = await idsOf(one, "ownera", {}, 1_000);
      expect(new Set([...penguins, ...ownNames]).size).toBeGreaterThanOrEqual(documents.length - 1);
      await expectExactCounts(table);
    });

    test("leave nothing half done when one dies in the middle of a write", async () => {
      const table = nextTable();
      const survivor = openIndex(openPool(), table);
      await survivor.put(SURROUNDINGS);
      const client = new pg.Client({ connectionString: url });
      client.on("error", () => {});
      await client.connect();
      await client.query("begin");
      await openIndex(client, table).put([documentOf({ id: "half", name: "walrus" })]);
      expect(await idsOf(survivor, "walrus")).toEqual([]);
      const waiting = survivor.put([documentOf({ id: "whole", name: "walrus" })]);
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
      await waiting;
      expect(await idsOf(survivor, "walrus")).toEqual(["whole"]);
      await expectExactCounts(table);
    });

    test("find written documents on a replica, without the right to write", async () => {
      const table = nextTable();
      const reader = openIndex(openPool({ options: "-c default_transaction_read_only=on" }), table);
      expect(await idsOf(reader, "garage door")).toEqual([]);
      await openIndex(openPool(), table).put(SURROUNDINGS);
      expect(await idsOf(reader, "garage dor")).toEqual(["open_door"]);
      await expect(reader.put([documentOf({ id: "doc", name: "walrus" })])).rejects.toThrow("read-only");
    });

    test("continue after a connection is cut", async () => {
      const table = nextTable();
      const pool = openPool();
      const index = openIndex(pool, table);
      await index.put(SURROUNDINGS);
      await openPool().query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()",
        [pool.options.application_name],
      );
      await expect.poll(() => idsOf(index, "garage door").catch(() => [])).toEqual(["open_door"]);
    });
  });
}

function openPool(more: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({
    ...more,
    connectionString: url,
    max: 4,
    application_name: `keyhole-test-${process.pid}-${pools.length}`,
  });
  // A pool emits an error for connections that end while idle.
  pool.on("error", () => {});
  pools.push(pool);
  return pool;
}

function openIndex(client: pg.Pool | pg.Client, table: string): PostgresIndex {
  return createPostgresIndex({ client, table });
}

function nextTable(): string {
  return `${schema}.t${tables++}`;
}

async function putOwnAndShared(writer: PostgresIndex, owner: number): Promise<void> {
  const own = ownDocuments(owner);
  const contested = Array.from({ length: 50 }, (_, at) =>
    documentOf({ id: `contested-${at}`, name: "contested", description: `by ${letter(owner)}` }),
  );
  for (let from = 0; from < own.length; from += 40) {
    await writer.put([
      ...own.slice(from, from + 40),
      ...(owner % 2 === 0 ? contested : contested.toReversed()),
    ]);
  }
}

function ownDocuments(owner: number): SearchDocument[] {
  return Array.from({ length: 200 }, (_, at) =>
    documentOf({
      id: `doc-${owner}-${at}`,
      name: `owner${letter(owner)}`,
      description: `document number ${at}`,
    }),
  );
}

function letter(owner: number): string {
  return "abcdefgh"[owner]!;
}

async function readWhile(reader: PostgresIndex, going: () => boolean): Promise<number[]> {
  const seen: number[] = [];
  while (going()) seen.push((await idsOf(reader, "document", {}, 1_000)).length);
  return seen;
}

async function expectExactCounts(table: string): Promise<void> {
  const [schemaName, name] = table.split(".");
  const base = `"${schemaName}".${name}_v6`;
  const { rows } = await openPool().query(`
    select (select sum(documents) from ${base}_state) - (select count(*) from ${base}) as documents_off,
      (select count(*) from ${base}_terms t where documents <>
        (select count(*) from ${base}_postings p join ${base} d on d.number = p.document
          where p.term = t.term and d.scopes = t.scopes)) as terms_off,
      (select count(*) from ${base}_postings p where not exists
        (select from ${base} d where d.number = p.document and p.term = any(d.terms))) as postings_off,
      (select count(*) from ${base}_postings) - (select sum(length(packed)) / 4 from ${base}_blocks) as packed_off`);
  expect(rows).toEqual([{ documents_off: "0", terms_off: "0", postings_off: "0", packed_off: "0" }]);
}
