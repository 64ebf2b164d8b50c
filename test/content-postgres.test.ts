import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PostgresClient } from "../src/core/storage/postgres-client.ts";
import { createTableSchemaFormat } from "../src/sources/content/formats/table-schema-format.ts";
import { createPostgresSource } from "../src/sources/content/sources/postgres-source.ts";
import { nodesOf } from "./content-kit.ts";

const url = process.env.KEYHOLE_POSTGRES_URL;
const sales = `keyhole_sales_${process.pid}`;
const other = `keyhole_other_${process.pid}`;

const SETUP = `
  create schema ${sales}; create schema ${other};
  create table ${sales}.dim_customer (id bigint primary key, email varchar(120) not null unique);
  create table ${sales}.fact_orders (
    order_id bigint primary key,
    customer_id bigint not null references ${sales}.dim_customer (id),
    amount numeric(12, 2) default 0,
    tags text[],
    gone text,
    "weird.name/with space" text
  );
  alter table ${sales}.fact_orders drop column gone;
  comment on table ${sales}.fact_orders is 'One row for each order.';
  comment on column ${sales}.fact_orders.order_id is 'Unique order identifier. Never used again.';
  create view ${sales}.fact_big as select order_id from ${sales}.fact_orders where amount > 1000;
  create table ${other}.fact_orders ("__proto__" int, constructor text);
`;

describeTables("PGlite", async () => {
  const client = new PGlite();
  await client.waitReady;
  await client.exec(SETUP);
  return { client, close: () => client.close() };
});

if (url === undefined || url === "") {
  const reason = "skipped: KEYHOLE_POSTGRES_URL is not set; scripts/start-postgres.sh gives one";
  console.info(`Tables of a PostgreSQL server (${reason})`);
  test.skip(`Tables of a PostgreSQL server (${reason})`, () => {});
} else {
  describeTables("a PostgreSQL server", async () => {
    const client = new pg.Pool({ connectionString: url, max: 2 });
    await client.query(SETUP);
    const close = async () => {
      await client.query(`drop schema ${sales} cascade; drop schema ${other} cascade`);
      await client.end();
    };
    return { client, close };
  });
}

function describeTables(
  name: string,
  open: () => Promise<{ client: PostgresClient; close(): Promise<void> }>,
): void {
  describe(`Tables of ${name}`, () => {
    let database: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      database = await open();
    }, 120_000);
    afterAll(() => database.close());

    test("a table becomes a node with its columns as children and comments as descriptions", async () => {
      const source = createPostgresSource({ client: database.client, schemas: [sales], tables: ["fact_*"] });
      const documents = await source.listDocuments();
      expect(documents.map((document) => document.name)).toEqual(["fact_big", "fact_orders"]);
      const nodes = await nodesOf(source, [createTableSchemaFormat()], "facts");
      const table = nodes.find(({ path }) => path === "facts/fact_orders");
      expect(table).toMatchObject({
        name: "fact_orders",
        description: "One row for each order.",
        metadata: { resource_type: "table", path_segment: "facts", quality_score: 50, columns: 5 },
      });
      expect(table?.content).toContain("- amount (numeric(12,2))");
      expect(table?.content).toContain("PRIMARY KEY (order_id)");
      expect(table?.content).toContain("FOREIGN KEY (customer_id) REFERENCES");
      const column = nodes.find(({ path }) => path === "facts/fact_orders/columns/order_id");
      expect(column).toMatchObject({
        name: "order_id",
        description: "Unique order identifier. Never used again.",
        metadata: { resource_type: "column", path_segment: "facts", quality_score: 50, data_type: "bigint" },
      });
      expect(nodes.find(({ name }) => name === "amount")).toMatchObject({
        content: expect.stringContaining("Default: 0"),
        metadata: { quality_score: 30 },
      });
      expect(nodes.some(({ name }) => name === "gone")).toBe(false);
      expect(nodes.find(({ name }) => name === "fact_big")?.description).toMatch(/^The view /);
      for (const { path } of nodes) expect(path).toMatch(/^[\w-]+(?:\/[\w-]+)*$/);
    });

    test("a version changes with the table, and with nothing else", async () => {
      const source = createPostgresSource({ client: database.client, schemas: [sales] });
      const versions = async () =>
        new Map((await source.listDocuments()).map((document) => [document.name, document.version]));
      const before = await versions();
      await database.client.query(`insert into ${sales}.dim_customer values (1, 'mona@example.com')`);
      expect(await versions()).toEqual(before);
      await database.client.query(`comment on column ${sales}.dim_customer.email is 'Where to write to'`);
      const after = await versions();
      expect(after.get("dim_customer")).not.toBe(before.get("dim_customer"));
      expect(after.get("fact_orders")).toBe(before.get("fact_orders"));
    });

    test("tables of several schemas have distinct paths, whatever their names", async () => {
      const source = createPostgresSource({
        client: database.client,
        schemas: [sales, other],
        tables: ["fact_orders"],
      });
      const nodes = await nodesOf(source, [createTableSchemaFormat()]);
      const columns = nodes.filter(({ path }) => path.startsWith(`${other}/fact_orders/columns/`));
      expect(columns.map(({ name }) => name)).toEqual(["__proto__", "constructor"]);
      expect(nodes.filter(({ name }) => name === "fact_orders")).toHaveLength(2);
    });

    test("only chosen tables can be fetched, and names are never run as SQL", async () => {
      const source = createPostgresSource({ client: database.client, schemas: [sales], tables: ["fact_*"] });
      const ids = [
        JSON.stringify([other, "fact_orders"]),
        JSON.stringify([sales, "dim_customer"]),
        JSON.stringify([sales, "fact_orders' or '1'='1"]),
        "fact_orders",
        "null",
      ];
      for (const id of ids) {
        await expect(source.fetchContent(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
      }
    });

    test("a failing database and a cancelled read are reported", async () => {
      const client = { query: () => Promise.reject(new Error("connection refused")) };
      const broken = createPostgresSource({ client, name: "warehouse" });
      await expect(broken.listDocuments()).rejects.toMatchObject({ code: "SOURCE_INVALID" });
      const source = createPostgresSource({ client: database.client, schemas: [sales] });
      const context = { signal: AbortSignal.abort(), progress: () => {} };
      await expect(source.listDocuments(context)).rejects.toMatchObject({ code: "CANCELLED" });
    });
  });
}
