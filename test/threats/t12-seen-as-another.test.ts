import type { Principal } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import type { AuditRecord } from "../../src/core/audit/audit-store.ts";
import { createMemoryAuditStore, recordsOf } from "../audit-kit.ts";
import { serveShop } from "../console/console-kit.ts";
import { auditor, clerk, reader } from "../shop.ts";
import { chaos } from "../upstream-kit.ts";

const ops: Principal = { id: "ops", scopes: ["keyhole:admin"], allowWrite: false };
const CALLERS = [clerk, reader, auditor, ops];
const ORDER = { op: "shop.order.create", args: { customer: "c-1" } };

async function serve(options: Parameters<typeof serveShop>[0] = {}) {
  const store = createMemoryAuditStore();
  const shop = await serveShop(
    { audit: { store }, ...options },
    {
      authenticate: async ({ authorization }) =>
        CALLERS.find(({ id }) => authorization === `Bearer ${id}`) ?? new Response(null, { status: 401 }),
    },
  );
  onTestFinished(() => shop.close());
  type Answer = Readonly<Record<string, unknown>>;
  return {
    ...shop,
    ask: async (id: string, path: string, body: object) =>
      (await (await shop.as(id, path, body)).json()) as Answer,
    records: async () =>
      (await recordsOf(await store.chains())).filter(({ kind }) => kind !== "log-opened") as (AuditRecord & {
        readonly actor: string;
        readonly principal: string;
      })[],
  };
}

test.each([
  ["exec", { ...ORDER, dry_run: false }],
  ["exec", { op: "shop.refund.send", args: { customer: "c-1", cents: 5 }, dry_run: false }],
  ["exec", { op: "shop.order.delete", args: { id: 1 }, dry_run: false }],
  ["batch", { requests: [{ exec: { ...ORDER, dry_run: false } }] }],
  ["exec", { ...ORDER, dry_run: false, idempotency_key: "k" }],
  ["get", { routes: [{ route: "shop://tools/order/list", params: {} }] }],
  ["run", { code: "return await tools.shop.order.create({ customer: 'c' })", dry_run: false }],
] as const)("T12: a caller that speaks for another runs nothing: %s %j", async (operation, input) => {
  const { ask, calls, records } = await serve();
  await ask("ops", `/api/${operation}?as=clerk`, input);
  expect(calls.made).toEqual([]);
  for (const { actor, principal } of await records()) expect([actor, principal]).toEqual(["ops", "clerk"]);
});

test("T12: a caller that speaks for another reads no document and no kept answer of theirs", async () => {
  const { ask, calls } = await serve();
  await ask("clerk", "/api/exec", { ...ORDER, idempotency_key: "mine" });
  expect(calls.made).toHaveLength(1);
  const again = await ask("ops", "/api/exec?as=clerk", { ...ORDER, idempotency_key: "mine", dry_run: false });
  expect(again).toMatchObject({ ok: true, meta: { dry_run: true } });
  const document = await ask("ops", "/api/get?as=auditor", { routes: ["shop://resources/manual"] });
  expect(JSON.stringify(document)).toContain("SEES_ONLY");
});

test("T12: a person at the console, too, only searches and runs dry as another", async () => {
  const { open, calls } = await serve();
  const person = await open();
  const found = await person.json<{ text: string }>("/api/ask?as=auditor", { query: "irregular bookings" });
  expect(found.text).toContain("audit://");
  await person.json("/api/exec?as=auditor", { ...ORDER, dry_run: false });
  expect(calls.made).toEqual([]);
  await person.json("/api/exec", { ...ORDER, dry_run: false });
  expect(calls.made).toHaveLength(1);
});

test("T20: every record names the actor and the principal, also when they are the same", async () => {
  const { ask, records, open } = await serve({ sources: [chaos("chaos", { trusted: false })] });
  await ask("clerk", "/api/exec", ORDER);
  await ask("reader", "/api/exec", ORDER);
  await ask("ops", "/api/exec?as=clerk", { ...ORDER, dry_run: false });
  const { servers } = await (await open()).json<{ servers: { definitions: object[] }[] }>("/api/approvals");
  const pin = servers.flatMap(({ definitions }) => definitions)[0]!;
  await ask("ops", "/api/approvals/definitions", { approve: [pin] });
  const named = (await records()).map(({ kind, actor, principal }) => [kind, actor, principal]);
  expect(named).toEqual([
    ["call-started", "clerk", "clerk"],
    ["call-ended", "clerk", "clerk"],
    ["call-refused", "reader", "reader"],
    ["call-started", "ops", "clerk"],
    ["call-ended", "ops", "clerk"],
    ["allowed", "ops", "clerk"],
  ]);
});
