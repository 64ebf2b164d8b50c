import { createGateway, type Lane, type Principal } from "keyhole";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "../examples/warehouse/database.ts";
import { withStatement } from "../examples/warehouse/free-sql/guarded-statement.ts";
import { createWarehouse } from "../examples/warehouse/warehouse.ts";
import { verifies } from "./claims.ts";

const principal = (...scopes: string[]): Principal => ({ id: scopes.join(), scopes, allowWrite: true });
const all = principal("internal", "support", "admin", "sql-write");
const analyst = principal("internal");
const writer = principal("internal", "sql-write");

const warehouse = createWarehouse({ now: () => new Date("2026-03-20T10:00:00Z") });
const gateway = createGateway({ domains: warehouse.domains, principal: all, learning: false });

const HIDDEN = "warehouse://tools/hidden";
const QUERY = `${HIDDEN}/query`;
const WRITE = `${HIDDEN}/query-write`;

/** Route, lane, and what people say when they need it. Search never finds hidden tools. */
const TOOLS: readonly (readonly [route: string, lane: Lane, ...said: string[]])[] = [
  [
    "warehouse://tools/analyst",
    "read",
    "investigate a customer",
    "analyse revenue",
    "how much did customers spend",
  ],
  ["logs://tools/investigator", "read", "suspicious logins", "investigate activity in the logs"],
  ["logs://tools/search-logs", "read", "find log events", "search the logs for a message"],
  ["support://tools/list-tickets", "read", "open support tickets", "tickets of a customer"],
  [QUERY, "read"],
  [WRITE, "destructive"],
  [`${HIDDEN}/user-investigation`, "read"],
  [`${HIDDEN}/revenue-breakdown`, "read"],
  [`${HIDDEN}/get-columns`, "read"],
  [`${HIDDEN}/fincrime-review`, "read"],
  ["logs://tools/hidden/user-activity", "read"],
  ["support://tools/hidden/vip-ticket", "write"],
  ["blockchain://tools/hidden/address-trace", "read"],
];

beforeEach(() => warehouse.reset());
afterAll(async () => {
  await gateway.close();
  await warehouse.close();
});

async function read(route: string, params: Record<string, unknown>, caller = all) {
  const { results, text } = await gateway.get({ routes: [{ route, params }] }, { principal: caller });
  const [result] = results;
  if (!result?.ok) expect.fail(text);
  return { content: result.data.content as never, next: result.data.guidance.map((step) => step.route) };
}

async function refusal(route: string, params: Record<string, unknown>, caller = all): Promise<string> {
  const answer = await gateway.exec({ route, args: params }, { principal: caller, approve: () => true });
  if (answer.ok) expect.fail(answer.text);
  return `${answer.error.code} ${JSON.stringify(answer.error.details.fieldErrors ?? "")}`;
}

test("the tools match the table exactly", async () => {
  const tools = Object.values((await gateway.report()).registry.ops).map(({ route, lane }) => [route, lane]);
  expect(tools.sort()).toEqual(TOOLS.map(([route, lane]) => [route, lane]).sort());
});

describe.each(TOOLS)("%s", (route, _lane, ...said) => {
  verifies("warehouse:every-tool", `${route} has help, and its example runs`, async () => {
    const help = await gateway.help({ path: route });
    if (help.kind !== "tool") expect.fail("no tool");
    expect(help.args.length).toBeGreaterThan(0);
    const written = (help.examples ?? []).filter(({ note }) => note !== "made from the schema");
    expect(written.length).toBeGreaterThan(0);
    for (const { args } of written) {
      const answer = await gateway.exec({ route, args }, { approve: () => true });
      expect(answer.ok, answer.text).toBe(true);
    }
  });

  verifies("warehouse:every-tool", `${route} is found by everyday wording, or never if hidden`, async () => {
    for (const query of said) {
      const { hits } = await gateway.ask({ query, kinds: ["tool"], maxTokens: 5_000 });
      expect(
        hits.slice(0, 5).map((hit) => hit.route),
        query,
      ).toContain(route);
    }
    if (said.length > 0) return;
    const name = route.split("/").at(-1)!.replaceAll("-", " ");
    expect((await gateway.ask({ query: name, maxTokens: 5_000 })).text).not.toContain(route);
  });
});

verifies(
  "warehouse:guidance",
  "risk, spend and a wallet decide the next steps of an investigation",
  async () => {
    const leadsTo = async (user_id: string, caller = all) =>
      (await read(`${HIDDEN}/user-investigation`, { user_id }, caller)).next;
    const activity = "logs://tools/hidden/user-activity";
    expect(await leadsTo("u-2001")).toEqual([activity]);
    expect(await leadsTo("u-1043")).toEqual([activity]);
    expect(await leadsTo("u-1042")).toEqual([
      activity,
      `${HIDDEN}/fincrime-review`,
      "blockchain://tools/hidden/address-trace",
    ]);
    expect(await leadsTo("u-3007")).toEqual([activity, "support://tools/hidden/vip-ticket"]);
    expect(await leadsTo("u-3007", analyst)).toEqual([activity]);
    expect(await refusal(`${HIDDEN}/user-investigation`, { user_id: "u-0" })).toContain("NOT_FOUND");
  },
);

verifies(
  "warehouse:guidance",
  "the analyst unveils writing tools only to callers who may write",
  async () => {
    const leadsTo = async (caller: Principal) =>
      (await read("warehouse://tools/analyst", { query: "revenue" }, caller)).next;
    expect(await leadsTo(writer)).toContain(WRITE);
    expect(await leadsTo(analyst)).toContain(QUERY);
    expect(await leadsTo(analyst)).not.toContain(WRITE);
  },
);

verifies("warehouse:scopes", "scopes of domain, tool and extractor add up", async () => {
  const seen = async (caller: Principal) => {
    const { entries } = await gateway.view({ principal: caller });
    return new Set(entries.map((entry) => entry.route));
  };
  expect((await seen(principal())).size).toBe(0);
  expect((await seen(principal("support", "admin", "sql-write"))).size).toBe(0);
  const audit = "warehouse://resources/audit/audit_access";
  const ticket = "support://tools/hidden/vip-ticket";
  for (const [caller, has, hasNot] of [
    [analyst, [QUERY, "warehouse://resources/facts/fact_orders/columns/order_id"], [audit, ticket, WRITE]],
    [principal("internal", "support"), [ticket, "support://resources/vip-policy"], [audit, WRITE]],
    [principal("internal", "admin"), [audit, `${audit}/columns/staff`], [ticket, WRITE]],
    [writer, [WRITE], [audit, ticket]],
  ] as const) {
    const routes = await seen(caller);
    for (const route of has) expect(routes, route).toContain(route);
    for (const route of hasNot) expect(routes, route).not.toContain(route);
  }
});

verifies("warehouse:schema", "tables and columns of the real schema are found as documents", async () => {
  const found = await gateway.ask({ query: "shared devices are a sign of fraud", kinds: ["resource"] });
  expect(found.hits[0]?.route).toBe("warehouse://resources/dimensions/dim_user/columns/device_id");
  const { content } = await read("warehouse://resources/dimensions/dim_user", {});
  expect(content).toContain("- wallet TEXT: Address of their wallet");
  const { content: columns } = await read(`${HIDDEN}/get-columns`, { table: "fact_orders" });
  expect((columns as { columns: { name: string }[] }).columns.map(({ name }) => name)).toEqual([
    "order_id",
    "user_id",
    "product_id",
    "amount",
    "ordered_on",
  ]);
  expect(await refusal(`${HIDDEN}/get-columns`, { table: "audit_access" }, analyst)).toContain("NOT_FOUND");
  expect(await refusal(`${HIDDEN}/get-columns`, { table: "tickets" })).toContain("NOT_FOUND");
});

verifies("warehouse:sql", "no query writes, leaves its tables or recurses, however it is spelled", () => {
  const writing = [
    "DELETE FROM fact_orders",
    "/* SELECT */ DELETE FROM fact_orders",
    "WITH gone AS (SELECT 1) DELETE FROM fact_orders",
    "INSERT INTO fact_orders SELECT * FROM fact_orders",
    "REPLACE INTO dim_product VALUES ('x', 'x', 'x')",
    "UPDATE fact_orders SET amount = 0 RETURNING *",
    "EXPLAIN DELETE FROM fact_orders",
  ];
  const forbidden = [
    "SELECT 1; DELETE FROM fact_orders",
    "DROP TABLE fact_orders",
    "CREATE TABLE fact_new (x)",
    "CREATE TEMP VIEW fact_view AS SELECT 1",
    "ALTER TABLE fact_orders RENAME TO fact_other",
    "PRAGMA writable_schema = 1",
    "SELECT * FROM pragma_table_info('audit_access')",
    "ATTACH ':memory:' AS other",
    "VACUUM INTO '/tmp/stolen.db'",
    "BEGIN",
    "SELECT load_extension('x')",
    "SELECT sql FROM sqlite_schema",
    "SELECT * FROM tickets",
    "SELECT (SELECT count(*) FROM log_events) AS n",
    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
    "nonsense",
    ";",
  ];
  const database = openDatabase(":memory:");
  const tables = ["fact_orders", "dim_product", "dim_user"];
  const attempt = (sql: string, mode: "read" | "write") =>
    withStatement(database, { path: "", sql, tables, mode, limit: 1 }, (statement) => statement.all());
  const count = () => database.prepare("SELECT count(*) FROM fact_orders").get();
  const before = count();
  for (const sql of [...writing, ...forbidden])
    expect(attempt(sql, "read"), sql).toMatchObject({ ok: false });
  for (const sql of forbidden) expect(attempt(sql, "write"), sql).toMatchObject({ ok: false });
  expect(count()).toEqual(before);
  expect(attempt("SELECT title FROM dim_product", "read")).toMatchObject({ ok: true });
  expect(attempt(writing[0]!, "write")).toMatchObject({ ok: true });
  expect(count()).not.toEqual(before);
  database.close();
});

verifies("warehouse:sql", "a refused query is a wrong param, and values are bounded", async () => {
  for (const sql of ["DELETE FROM fact_orders", "SELECT hex(zeroblob(100000000))", "nonsense"]) {
    expect(await refusal(QUERY, { sql }), sql).toMatch(/^INVALID_PARAMS .*"sql"/);
  }
});

verifies("warehouse:sql", "a forbidden table is as unknown as a missing one", async () => {
  const sqlOf = (table: string) => ({ sql: `SELECT * FROM ${table}` });
  const refused = await refusal(QUERY, sqlOf("audit_access"), analyst);
  expect(refused).toBe((await refusal(QUERY, sqlOf("audit_nothing"), analyst)).replace("nothing", "access"));
  expect(await read(QUERY, sqlOf("audit_access"))).toMatchObject({
    content: { rows: [{ staff: "ana" }, {}] },
  });
  const deletion = { sql: "DELETE FROM dim_user WHERE user_id = 'u-1042'" };
  expect(await refusal(WRITE, deletion, writer)).not.toContain("audit");
  const insertion = { sql: "INSERT INTO audit_access SELECT 9, 'x', user_id, 'x' FROM dim_user" };
  expect(await refusal(WRITE, insertion, writer)).toContain("no such table");
});

verifies(
  "warehouse:sql",
  "a caller with the scope changes rows through exec only, after a dry run",
  async () => {
    const args = { sql: "UPDATE fact_orders SET amount = amount + 1 WHERE order_id <= 4" };
    const sum = async () =>
      (await read(QUERY, { sql: "SELECT sum(amount) AS n FROM fact_orders WHERE order_id <= 4" })).content;
    const dry = await gateway.exec({ route: WRITE, args }, { principal: writer });
    expect(dry).toMatchObject({ ok: true, result: { changed_rows: 4 }, meta: { dryRun: true } });
    expect(await sum()).toMatchObject({ rows: [{ n: 32_820 }] });
    const done = await gateway.exec({ route: WRITE, args }, { principal: writer, approve: () => true });
    expect(done).toMatchObject({ ok: true, result: { changed_rows: 4 } });
    expect(await sum()).toMatchObject({ rows: [{ n: 32_824 }] });
    const { results } = await gateway.get({ routes: [{ route: WRITE, params: args }] });
    expect(results).toMatchObject([{ ok: false, error: { code: "ACCESS_DENIED" } }]);
  },
);

verifies("warehouse:sql", "an endless statement is stopped, and other statements continue", async () => {
  const short = createWarehouse({ sqlMs: 1_000 });
  const own = createGateway({ domains: short.domains, principal: analyst, learning: false });
  const tables = ["a", "b", "c", "d", "e", "f"].map((alias) => `fact_orders AS ${alias}`);
  const args = { sql: `SELECT count(*) FROM ${tables.join(", ")}` };
  const [endless, other] = await Promise.all([
    own.exec({ route: QUERY, args }),
    own.exec({ route: `${HIDDEN}/revenue-breakdown`, args: {} }),
  ]);
  expect(endless).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
  expect(other.ok).toBe(true);
  await own.close();
  await short.close();
});

test("an answer at the row limit says that there are more rows", async () => {
  const sql = "SELECT order_id FROM fact_orders ORDER BY order_id";
  const { content } = await read(QUERY, { sql, limit: 2 });
  expect(content).toEqual({ rows: [{ order_id: 1 }, { order_id: 2 }], more: true });
});

test("revenue adds up however it is broken down", async () => {
  const totals = await Promise.all(
    ["month", "category", "country"].map(async (by) => {
      const { content } = await read(`${HIDDEN}/revenue-breakdown`, { by });
      const { total, breakdown } = content as {
        total: number;
        breakdown: { revenue: number; orders: number }[];
      };
      expect(breakdown.length).toBeGreaterThan(2);
      expect(breakdown.reduce((sum, { orders }) => sum + orders, 0)).toBe(484);
      return total;
    }),
  );
  expect(new Set(totals).size).toBe(1);
  const march = await read(`${HIDDEN}/revenue-breakdown`, {
    start_date: "2026-03-02",
    end_date: "2026-03-02",
  });
  expect(march.content).toMatchObject({ total: 24_000 });
});

test("only the suspect stands out", async () => {
  const { content } = await read(QUERY, { sql: "SELECT user_id FROM dim_user", limit: 1_000 });
  const users = (content as { rows: { user_id: string }[] }).rows.map(({ user_id }) => user_id);
  expect(users).toHaveLength(44);
  const risks = await Promise.all(
    users.map(async (user_id) => {
      const profile = (await read(`${HIDDEN}/user-investigation`, { user_id })).content as {
        risk_score: number;
      };
      return [user_id, profile.risk_score] as const;
    }),
  );
  expect(risks.filter(([, risk]) => risk > 0)).toEqual([
    ["u-1042", 85],
    ["u-1043", 15],
  ]);
});

test("a trace visits a cycle of transfers once", async () => {
  const route = "blockchain://tools/hidden/address-trace";
  const { content } = await read(route, { address: "0x7c3e5f0a91d2", hops: 5 });
  expect((content as { trace: { tx: string }[] }).trace.map(({ tx }) => tx)).toEqual([
    "tx-1",
    "tx-2",
    "tx-3",
  ]);
});

test("an opened ticket stays until the reset", async () => {
  const opened = await gateway.exec({
    route: "support://tools/hidden/vip-ticket",
    args: { user_id: "u-3007" },
  });
  expect(opened).toMatchObject({ ok: true, result: { opened_at: "2026-03-20T10:00:00.000Z" } });
  const list = async () => (await read("support://tools/list-tickets", {})).content as { tickets: object[] };
  expect((await list()).tickets).toHaveLength(1);
  warehouse.reset();
  expect((await list()).tickets).toHaveLength(0);
});
