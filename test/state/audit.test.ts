import { setTimeout } from "node:timers/promises";
import { PGlite } from "@electric-sql/pglite";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createPostgresState } from "keyhole/postgres";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { allowed, recordsOf, verifyAll } from "../audit-kit.ts";
import { describeAuditStore } from "../audit-store-behaviours.ts";

const pglite = new PGlite();
beforeAll(() => pglite.waitReady);
afterAll(() => pglite.close());
let tables = 0;

async function openState(table: string) {
  const state = await createPostgresState({ client: pglite, table });
  onTestFinished(() => state.close());
  return state;
}

describeAuditStore("PostgreSQL in process", () => {
  tables += 1;
  const table = `audit_${tables}`;
  return async () => (await openState(table)).audit;
});

test("each gateway writes a chain of its own, and goes on with that of one which has ended", async () => {
  const [one, other] = [await openState("chains"), await openState("chains")];
  await Promise.all(
    [one, other].flatMap(({ audit }, at) =>
      Array.from({ length: 20 }, async (_, number) => {
        audit.add(allowed(`${at}-${number}`));
        await audit.flush();
      }),
    ),
  );
  expect(await other.audit.chains()).toHaveLength(2);
  await one.close();
  const next = await openState("chains");
  next.audit.add(allowed("next"));
  await next.audit.flush();
  const chains = await other.audit.chains();
  expect((await verifyAll(chains)).map(({ bad }) => bad)).toEqual([undefined, undefined]);
  const names = (await recordsOf(chains)).flatMap((record) => ("name" in record ? [record.name] : []));
  expect(names).toHaveLength(41);
});

test("T20: a record that is changed or deleted in the database is found", async () => {
  const { audit } = await openState("attacked");
  for (const name of ["a", "b", "c", "d"]) {
    audit.add(allowed(name));
    await audit.flush();
  }
  const bad = async () => (await verifyAll(await audit.chains()))[0]?.bad?.seq;
  expect(await bad()).toBeUndefined();
  const rows = "kind = 'audit' and key = '1 1'";
  const replace = (from: string, to: string) =>
    pglite.query(`update attacked_values set value = replace(value, $1, $2) where ${rows}`, [from, to]);
  await replace('"b\\"', '"x\\"');
  expect(await bad()).toBe(3);
  await replace('"x\\"', '"b\\"');
  expect(await bad()).toBeUndefined();
  await pglite.query(`update attacked_values set value = '7' where ${rows} and position = 2`);
  expect(await bad()).toBe(4);
  await pglite.query(`delete from attacked_values where ${rows} and position >= 2`);
  expect(await bad()).toBe(4);
  await pglite.query(`delete from attacked_values where ${rows}`);
  expect(await bad()).toBe(1);
});

test("a write whose answer was lost is not written twice", async () => {
  let isLost = false;
  const client = {
    query: async (sql: string, params?: unknown[]) => {
      const done = await pglite.query<object>(sql, params);
      if (isLost && sql.includes("insert into") && params?.[0] === "audit")
        throw new Error("connection lost");
      return done;
    },
  };
  const state = await createPostgresState({ client, table: "doubt" });
  onTestFinished(() => state.close());
  state.audit.add(allowed("a"));
  await state.audit.flush();
  isLost = true;
  state.audit.add(allowed("b"));
  await expect(state.audit.flush()).rejects.toMatchObject({ code: "STATE_UNREACHABLE" });
  isLost = false;
  state.audit.add(allowed("c"));
  await state.audit.flush();
  const chains = await state.audit.chains();
  expect((await verifyAll(chains)).map(({ bad }) => bad)).toEqual([undefined]);
  const names = (await recordsOf(chains)).flatMap((record) => ("name" in record ? [record.name] : []));
  expect(names).toEqual(["a", "b", "c"]);
});

test("a gateway records its calls there", async () => {
  const state = await openState("calls");
  const tool = defineTool({
    name: "get_time",
    op: "office.time.get",
    description: "Tell the time.",
    execute: () => "12",
  });
  const domains = [defineDomain({ name: "office", description: "Office life.", tools: [tool] })];
  const gateway = createGateway({ domains, ...state.stores, audit: { store: state.audit } });
  await gateway.exec({ op: "office.time.get", args: {} });
  await gateway.close();
  const kinds = (await recordsOf(await state.audit.chains())).map(({ kind }) => kind);
  expect(kinds).toEqual(["log-opened", "call-started", "call-ended"]);
});

test("a log that is closed without its database tries nothing again", async () => {
  let isDown = false;
  let asked = 0;
  const client = {
    query: async (sql: string, params?: unknown[]) => {
      if (!isDown) return pglite.query<object>(sql, params);
      asked += 1;
      throw new Error("connection lost");
    },
  };
  const state = await createPostgresState({ client, table: "gone" });
  isDown = true;
  state.audit.add(allowed("a"));
  await state.close();
  const before = asked;
  // A retry would come after a second.
  await setTimeout(1_200);
  expect(asked).toBe(before);
});
