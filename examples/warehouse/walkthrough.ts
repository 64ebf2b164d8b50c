// "Investigate fraud for user X": from one question to the conclusion, with each tool unveiled when it helps.
import assert from "node:assert/strict";
import { createGateway, type Principal } from "keyhole";
import { heading, quote } from "../print.ts";
import { createWarehouse } from "./warehouse.ts";

const ana: Principal = { id: "ana", scopes: ["internal", "support"], allowWrite: true };
const contractor: Principal = { id: "carl", scopes: ["internal"], allowWrite: false };
const admin: Principal = { id: "ada", scopes: ["internal", "admin", "sql-write"], allowWrite: true };
const guest: Principal = { id: "gus", scopes: [], allowWrite: false };
const SUSPECT = "u-1042";
const HARMLESS = "u-2001";
const VIP = "u-3007";
const HIDDEN = "warehouse://tools/hidden";

const warehouse = createWarehouse({ now: () => new Date("2026-03-20T10:00:00Z") });
const gateway = createGateway({ domains: warehouse.domains, principal: ana });

heading("1. ask shows the entry points and no hidden tools");
const found = await gateway.ask({ query: `Investigate fraud for user ${SUSPECT}` });
quote(found.text);
const routes = found.hits.map((hit) => hit.route);
assert.ok(routes.includes("warehouse://tools/analyst"));
assert.ok(routes.includes("logs://tools/investigator"));
await nothingHiddenInAsk();

heading("2. The entry point explains its domain and unveils its tools");
const analyst = await read("warehouse://tools/analyst", { query: `fraud, user ${SUSPECT}` });
assert.deepEqual(
  unveiled(analyst),
  ["user-investigation", "fincrime-review", "revenue-breakdown", "get-columns", "query"].map(
    (tool) => `${HIDDEN}/${tool}`,
  ),
);

heading("3. The result decides the next steps, across domains");
const investigation = `${HIDDEN}/user-investigation`;
const suspect = await read(investigation, { user_id: SUSPECT });
assert.partialDeepStrictEqual(suspect.content, { risk_score: 85, lifetime_spend: 8_500 });
assert.deepEqual(unveiled(suspect), [
  "logs://tools/hidden/user-activity",
  `${HIDDEN}/fincrime-review`,
  "blockchain://tools/hidden/address-trace",
]);
const harmless = await read(investigation, { user_id: HARMLESS });
assert.partialDeepStrictEqual(harmless.content, { risk_score: 0, lifetime_spend: 320 });
assert.deepEqual(unveiled(harmless), ["logs://tools/hidden/user-activity"]);

heading("4. Guidance fills in the params, and one get takes all steps");
const steps = suspect.guidance.map(({ route, params = {} }) => ({ route, params }));
const followed = await gateway.get({ routes: steps });
quote(followed.text);
assert.deepEqual(followed.summary, { total: 3, succeeded: 3, failed: 0 });
const [activity, review, trace] = followed.results.map((result) => result.ok && result.data.content);
assert.partialDeepStrictEqual(activity, { jumps: [{ from: "NL", to: "PA", minutes: 26 }] });
assert.partialDeepStrictEqual(review, {
  just_under_limit: 15,
  pattern: "structuring",
  same_device: ["u-1043"],
});
assert.partialDeepStrictEqual(trace, { trace: [{ amount: 14_000 }, { to: "0xmixer" }] });

heading("5. Tables and columns are documents; an agent's SQL only reads");
const columns = await gateway.ask({ query: "price paid for an order in euros", kinds: ["resource"] });
quote(columns.text);
assert.ok(
  columns.hits.some(({ route }) => route === "warehouse://resources/facts/fact_orders/columns/amount"),
);
const { content: rows } = await read(`${HIDDEN}/query`, {
  sql: "SELECT user_id, max(amount) AS amount FROM fact_orders",
});
assert.deepEqual(rows, { rows: [{ user_id: VIP, amount: 24_000 }], more: false });
const sql = "DELETE FROM fact_transfers WHERE user_id = 'u-1042'";
const refusedSql = await gateway.get({ routes: [{ route: `${HIDDEN}/query`, params: { sql } }] });
quote(refusedSql.text);
assert.partialDeepStrictEqual(refusedSql.results, [{ ok: false, error: { code: "INVALID_PARAMS" } }]);

heading("6. A caller with the scope may change data, after a dry run");
const dry = await gateway.exec({ route: `${HIDDEN}/query-write`, args: { sql } }, { principal: admin });
quote(dry.text);
assert.ok(dry.ok && dry.meta.dryRun);
assert.deepEqual(dry.result, { changed_rows: 16 });
const notThere = await gateway.exec({ route: `${HIDDEN}/query-write`, args: { sql } });
assert.partialDeepStrictEqual(notThere, { ok: false, error: { code: "NOT_FOUND" } });

heading("7. Reading unveils a writing tool, but only exec runs it");
const vip = await read(investigation, { user_id: VIP });
assert.deepEqual(unveiled(vip), ["logs://tools/hidden/user-activity", "support://tools/hidden/vip-ticket"]);
const { route, params = {} } = vip.guidance.at(-1)!;
const refused = await gateway.get({ routes: [{ route, params }] });
assert.partialDeepStrictEqual(refused.results, [{ ok: false, error: { code: "ACCESS_DENIED" } }]);
const ticket = await gateway.exec({ route, args: params });
quote(ticket.text);
assert.partialDeepStrictEqual(ticket, { ok: true, result: { user_id: VIP, priority: "vip", state: "open" } });

heading("8. Without the scope, the same answer unveils nothing forbidden");
const limited = await read(investigation, { user_id: VIP }, contractor);
assert.deepEqual(unveiled(limited), ["logs://tools/hidden/user-activity"]);
const guessed = await gateway.get({ routes: [{ route, params }] }, { principal: contractor });
assert.partialDeepStrictEqual(guessed.results, [{ ok: false, error: { code: "NOT_FOUND" } }]);
const policy = { query: "VIP policy of support" };
assert.match((await gateway.ask(policy)).text, /support:\/\/resources\/vip-policy/);
assert.doesNotMatch((await gateway.ask(policy, { principal: contractor })).text, /support:\/\//);
assert.deepEqual((await gateway.ask({ query: "investigate fraud" }, { principal: guest })).hits, []);

heading("9. After all that, ask still shows only the entry points");
await nothingHiddenInAsk();
await gateway.close();
await warehouse.close();

heading("Conclusion");
console.log(
  `15 transactions just under €1,000 and a risk of 85 point to structuring by ${SUSPECT}. Have it reviewed.`,
);

/** Gets one route and prints the answer as the model reads it. */
async function read(address: string, given: Record<string, unknown>, principal = ana) {
  const answer = await gateway.get({ routes: [{ route: address, params: given }] }, { principal });
  const [result] = answer.results;
  assert.ok(result?.ok, answer.text);
  quote(answer.text);
  return result.data;
}

function unveiled(data: { readonly guidance: readonly { readonly route: string }[] }): string[] {
  return data.guidance.map((step) => step.route);
}

async function nothingHiddenInAsk(): Promise<void> {
  const queries = [
    "investigate fraud",
    "run a SQL query",
    "user investigation",
    "address trace",
    "vip ticket",
  ];
  for (const query of queries) {
    const answer = await gateway.ask({ query, maxTokens: 5_000 });
    assert.doesNotMatch(JSON.stringify(answer), /[/.]hidden[/.]/, `"${query}" must not show hidden routes`);
  }
  console.log(`Checked ${queries.length} questions: no answer has a hidden route.`);
}
