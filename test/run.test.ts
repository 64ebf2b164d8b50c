import type { ApprovalRequest } from "keyhole";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { createPlanStore, type PlanStore } from "../src/core/storage/plan-store.ts";
import { createSessionStore } from "../src/core/storage/session-store.ts";
import { verifies } from "./claims.ts";
import { createShopGateway, reader } from "./run-kit.ts";

const asked: ApprovalRequest[] = [];
let answer: boolean | "declined" = false;
const { gateway, orders, log } = createShopGateway({
  ask: "never",
  approve: (request) => {
    asked.push(request);
    return answer;
  },
});
afterAll(() => gateway.close());

/** Starts every test with three orders and an empty log. */
function reset(approves: boolean | "declined" = false): void {
  orders.clear();
  for (const id of [1, 2, 3]) orders.set(id, { id, customer: `c${id}`, total: id * 10 });
  log.length = 0;
  asked.length = 0;
  answer = approves;
}

describe("a script", () => {
  test("makes many calls, and only what it returns is shown", async () => {
    reset();
    const code = `
      const { items } = await tools.shop.order.list();
      const each = await Promise.all(items.map(({ id }) => call("shop://tools/order/get", { id })));
      return each.reduce((sum, { total }) => sum + total, 0);`;
    const ran = await gateway.run({ code });
    expect(ran).toMatchObject({ ok: true, result: 60, calls: 4, effects: [] });
    expect(ran.text).toBe("60");
  });

  test("asks, describes, reads and logs", async () => {
    reset();
    const code = `
      const found = await ask("list orders");
      const described = await help("shop.order.get");
      log("found", found.hits.length);
      return [found.hits[0].op, described.usage, (await get("shop.order.list")).items.length];`;
    const ran = await gateway.run({ code });
    expect(ran.result).toEqual(["shop.order.list", "shop.order.get(id: number)", 3]);
    expect(ran.text).toContain("Log:\nfound");
  });

  test.each(["(await tools.shop.order.list()).items.length", "async () => { return 1; }"])(
    "is told that it showed nothing: %s",
    async (code) => {
      const told = "The script returned nothing. Only what it returns or logs is shown.";
      expect((await gateway.run({ code })).warnings).toEqual([told]);
      expect((await gateway.run({ code: `${code}; return null` })).warnings).toEqual([]);
      expect((await gateway.run({ code: `${code}; log("seen")` })).warnings).toEqual([]);
    },
  );

  test("writes, and says so in one line", async () => {
    reset();
    const ran = await gateway.run({
      code: "for (const c of params.names) await tools.shop.order.create({ customer: c }); return 'ok'",
      params: { names: ["ann", "bob"] },
    });
    expect(log).toEqual(["create ann", "create bob"]);
    expect(ran.text).toBe("ok\nDone: shop.order.create ×2.");
  });

  test("sees nothing outside the caller's View, and writes nothing the caller may not write", async () => {
    reset();
    const secret = await gateway.run({ code: "return call('shop.secret.list')" });
    expect(secret).toMatchObject({
      ok: false,
      error: { code: "NOT_FOUND" },
    });
    const write = await gateway.run(
      { code: "return tools.shop.order.create({ customer: 'x' })" },
      { principal: reader },
    );
    expect(write).toMatchObject({
      ok: false,
      error: { code: "PERMISSION_DENIED" },
    });
    expect(log).toEqual([]);
  });

  test("gets whole results, and what it returns too much of is read by a handle", async () => {
    reset();
    const ran = await gateway.run({ code: "return Array.from({ length: 20000 }, (_, i) => ({ i }))" });
    expect(ran.stored?.items).toBe(20_000);
    const read = await gateway.run({
      code: `return (await get("${ran.stored?.handle}", { offset: 19999 }))[0].i`,
    });
    expect(read.result).toBe(19_999);
    const foreign = await gateway.run({ code: `return get("${ran.stored?.handle}")` }, { principal: reader });
    expect(foreign).toMatchObject({ error: { code: "UNKNOWN_HANDLE" } });
  });

  test("is told about wrong arguments and fields", async () => {
    reset();
    const wrong = await gateway.run({ code: "return tools.shop.order.get({ ident: 1 })" });
    expect(wrong.error).toMatchObject({ code: "INVALID_PARAMS", helpPath: "shop.order.get" });
    const field = await gateway.run({
      code: "const all = await tools.shop.order.list();\nreturn all.itmes.length",
    });
    expect(field.text).toContain("TypeError: cannot read property");
    expect(field.text).toContain("The result of shop.order.list has no field itmes. Did you mean items?");
    const silent = await gateway.run({ code: "return (await tools.shop.order.list()).itmes" });
    expect(silent.warnings[0]).toContain("has no field itmes");
  });

  test("without code or plan, or with a forged one, is refused", async () => {
    expect(await gateway.run({})).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(await gateway.run({ plan: "plan_made-up" })).toMatchObject({ error: { code: "UNKNOWN_HANDLE" } });
  });
});

const TIDY = `
  const { items } = await tools.shop.order.list();
  for (const { id, total } of items) if (total < params.below) await tools.shop.order.delete({ id });
  return "tidied";`;

describe("a plan", () => {
  test("T22: shows and binds the arguments that stand in an address, and performs no others", async () => {
    reset();
    const code = `
      await call("shop.order.delete?id=3");
      const { items } = await tools.shop.order.list();
      await call("shop.order.delete?id=" + items.at(-1).id);`;
    const dry = await gateway.run({ code, dryRun: true });
    expect(dry.effects).toMatchObject([{ args: { id: 3 } }, { args: { id: 3 } }]);
    expect(dry.text).toContain('shop.order.delete {"id":3}');
    const real = await gateway.run({ plan: dry.plan!.handle });
    expect(real).toMatchObject({ ok: false, error: { code: "PLAN_DIFFERS" } });
    expect(log).toEqual(["delete 3"]);
  });

  verifies("run:plan", "lists the effects of a dry run, and performs exactly these", async () => {
    reset();
    const dry = await gateway.run({ code: TIDY, params: { below: 25 }, dryRun: true });
    expect(log).toEqual([]);
    expect(dry).toMatchObject({
      ok: true,
      dryRun: true,
      effects: [
        { op: "shop.order.delete", args: { id: 1 }, state: "planned", says: { would_delete: 1 } },
        { op: "shop.order.delete", args: { id: 2 }, state: "planned" },
      ],
    });
    expect(dry.text).toContain(`call run with plan: "${dry.plan?.handle}"`);
    const real = await gateway.run({ plan: dry.plan!.handle });
    expect(log).toEqual(["delete 1", "delete 2"]);
    expect(real.text).toBe("tidied\nDone: shop.order.delete ×2.");
    // Performing it again repeats its answer and nothing else.
    expect(await gateway.run({ plan: dry.plan!.handle })).toMatchObject({ ok: true, result: "tidied" });
    expect(log).toHaveLength(2);
  });

  test("comes first for destructive calls if nobody can be asked, after the calls before them have run", async () => {
    let says = false;
    const shop = createShopGateway({ approve: () => says });
    onTestFinished(() => shop.gateway.close());
    const code =
      "await tools.shop.order.create({ customer: 'new' }); await tools.shop.order.delete({ id: 1 }); return 1";
    const first = await shop.gateway.run({ code });
    expect(shop.log).toEqual(["create new"]);
    expect(first.text).toContain(
      "runs only after a person has approved its effects, and nobody could be asked.",
    );
    expect(first.text).not.toContain("dry_run: false");
    expect(first).toMatchObject({
      ok: true,
      dryRun: true,
      effects: [
        { op: "shop.order.create", state: "done", undo: { op: "shop.order.delete", args: { id: 4 } } },
        { op: "shop.order.delete", state: "planned" },
      ],
    });
    const plan = { plan: first.plan!.handle };
    expect(await shop.gateway.run(plan)).toMatchObject({ ok: false, error: { code: "APPROVAL_REQUIRED" } });
    says = true;
    expect(await shop.gateway.run(plan)).toMatchObject({ ok: true, result: 1 });
    expect(shop.log).toEqual(["create new", "delete 1"]);
  });

  test("is not needed where nobody is to be asked", async () => {
    reset();
    await gateway.run({ code: TIDY, params: { below: 15 } });
    expect(log).toEqual(["delete 1"]);
  });

  verifies("run:plan", "stops at the first effect that differs, with a new plan for the rest", async () => {
    reset();
    const dry = await gateway.run({ code: TIDY, params: { below: 25 }, dryRun: true });
    orders.set(2, { id: 2, customer: "c2", total: 999 });
    orders.set(3, { id: 3, customer: "c3", total: 1 });
    const stopped = await gateway.run({ plan: dry.plan!.handle });
    expect(log).toEqual(["delete 1"]);
    expect(stopped).toMatchObject({
      ok: false,
      error: { code: "PLAN_DIFFERS" },
      effects: [
        { args: { id: 1 }, state: "done" },
        { args: { id: 3 }, state: "planned" },
      ],
    });
    const rest = await gateway.run({ plan: stopped.plan!.handle });
    expect(rest.ok).toBe(true);
    expect(log).toEqual(["delete 1", "delete 3"]);
  });

  test("belongs to its code and its principal", async () => {
    reset();
    const { plan } = await gateway.run({ code: TIDY, params: { below: 25 }, dryRun: true });
    expect(await gateway.run({ plan: plan!.handle, code: "return 1" })).toMatchObject({
      error: { code: "INVALID_INPUT" },
    });
    expect(await gateway.run({ plan: plan!.handle }, { principal: reader })).toMatchObject({
      error: { code: "UNKNOWN_HANDLE" },
    });
    expect(log).toEqual([]);
  });

  test("performed by two callers at once runs each effect once", async () => {
    reset();
    const { plan } = await gateway.run({ code: TIDY, params: { below: 35 }, dryRun: true });
    const both = await Promise.all([
      gateway.run({ plan: plan!.handle }),
      gateway.run({ plan: plan!.handle }),
    ]);
    expect(log.toSorted()).toEqual(["delete 1", "delete 2", "delete 3"]);
    expect(both.filter(({ ok }) => ok).length).toBeLessThanOrEqual(2);
    for (const { ok, error } of both as { ok: boolean; error?: { code: string } }[])
      if (!ok) expect(error?.code).toBe("CONFLICT");
  });
});

verifies("run:resume", "a plan whose script makes other calls than before is refused", async () => {
  const kept = createPlanStore();
  let tampered = false;
  const plans: PlanStore = {
    ...kept,
    read: async (...which) => {
      const events = JSON.stringify(await kept.read(...which));
      return JSON.parse(tampered ? events.replace("customer: 'ann'", "customer: 'bob'") : events);
    },
  };
  let says = false;
  const sessions = { ...createSessionStore(), plans };
  const shop = createShopGateway({ sessions, approve: () => says });
  onTestFinished(() => shop.gateway.close());
  const code =
    "await tools.shop.order.create({ customer: 'ann' }); await tools.shop.order.delete({ id: 1 }); return 1";
  const first = await shop.gateway.run({ code });
  expect(shop.log).toEqual(["create ann"]);
  tampered = true;
  says = true;
  expect(await shop.gateway.run({ plan: first.plan!.handle })).toMatchObject({
    ok: false,
    error: { code: "PLAN_CHANGED" },
  });
  expect(shop.log).toEqual(["create ann"]);
});

const PAY = "for (const id of [1, 2]) await tools.shop.order.pay({ id }); return 'paid'";

describe("an approval", () => {
  test("is asked for call by call where a person is there", async () => {
    reset(true);
    const ran = await gateway.run({ code: PAY });
    expect(ran.text).toBe("paid\nDone: shop.order.pay ×2.");
    expect(asked.map(({ op }) => op)).toEqual(["shop.order.pay", "shop.order.pay"]);
  });

  test("that nobody can give ends in a plan, and nothing has run", async () => {
    reset(false);
    const ran = await gateway.run({ code: PAY });
    expect(log).toEqual([]);
    expect(ran).toMatchObject({
      ok: false,
      error: { code: "APPROVAL_REQUIRED" },
      effects: [{ state: "planned" }, { state: "planned" }],
    });
    const plan = asked.at(-1)!;
    expect(plan.op).toMatch(/^plan [0-9a-f]{12}$/);
    expect(plan.args).toEqual({ effects: [1, 2].map((id) => ({ op: "shop.order.pay", args: { id } })) });
    expect(plan.resume).toBe(ran.plan?.handle);
  });

  test("of a plan is asked for once, and covers all its effects", async () => {
    reset(false);
    const { plan } = await gateway.run({ code: PAY, dryRun: true });
    expect(asked).toEqual([]);
    reset(true);
    const ran = await gateway.run({ plan: plan!.handle });
    expect(ran).toMatchObject({ ok: true, result: "paid" });
    expect(asked.map(({ hash }) => hash)).toEqual([plan!.hash]);
    expect(log).toEqual(["pay 1", "pay 2"]);
  });

  test("that a person declines is an error in the script", async () => {
    reset("declined");
    const ran = await gateway.run({
      code: "try { await tools.shop.order.pay({ id: 1 }) } catch (e) { return e.code }",
    });
    expect(ran.result).toBe("APPROVAL_DECLINED");
    const { plan } = await gateway.run({ code: PAY, dryRun: true });
    expect(await gateway.run({ plan: plan!.handle })).toMatchObject({
      ok: false,
      error: { code: "APPROVAL_DECLINED" },
    });
    expect(log).toEqual([]);
  });
});

verifies(
  "run:undo",
  "a script that fails half-way lists what was done, what was not, and the way back",
  async () => {
    reset(true);
    const code =
      "await tools.shop.order.create({ customer: 'x' }); await tools.shop.order.pay({ id: 1 }); await tools.shop.order.break(); await tools.shop.order.refund({ id: 9 })";
    const { plan } = await gateway.run({ code, dryRun: true });
    const ran = await gateway.run({ plan: plan!.handle });
    expect(ran).toMatchObject({
      ok: false,
      error: { code: "INTERNAL", message: "shop.order.break failed: the press broke" },
      effects: [
        { op: "shop.order.create", state: "done", undo: { op: "shop.order.delete", args: { id: 4 } } },
        { op: "shop.order.pay", state: "done", undo: { op: "shop.order.refund", args: { id: 1 } } },
        { op: "shop.order.break", state: "failed" },
      ],
      notDone: [{ op: "shop.order.refund", args: { id: 9 }, state: "not_done" }],
    });
    expect(ran.text).toContain('(undo: shop.order.refund {"id":1})');
    expect(ran.text).toContain(
      "3. failed shop.order.break {}: INTERNAL: shop.order.break failed: the press broke",
    );
    expect(ran.text).toContain('4. not done shop.order.refund {"id":9}');
  },
);
