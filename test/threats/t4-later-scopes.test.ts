import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";

const before: Principal = { id: "a", scopes: ["pay"], allowWrite: true };
const after: Principal = { ...before, scopes: [] };
const other: Principal = { ...before, id: "b" };

function payDomain(paid: number[], description: string) {
  return defineDomain({
    name: "pay",
    description: "Pays salaries.",
    tools: [
      defineTool({
        name: "list_salaries",
        op: "pay.salary.list",
        description: "Lists salaries.",
        lane: "read",
        requiredScopes: ["pay"],
        inputSchema: z.object({}),
        execute: () => [1_001, 1_002],
      }),
      defineTool({
        name: "create_payment",
        op: "pay.payment.create",
        description,
        lane: "write",
        requiredScopes: ["pay"],
        inputSchema: z.object({ sum: z.number() }),
        execute: ({ sum }) => ({ number: paid.push(sum) }),
      }),
    ],
  });
}

function open() {
  const paid: number[] = [];
  const gateway = createGateway({ domains: [payDomain(paid, "Pays a sum.")] });
  onTestFinished(() => gateway.close());
  return { gateway, paid };
}

test("T4: an idempotency key answers its own principal alone, and only while its scopes allow the call", async () => {
  const { gateway, paid } = open();
  const call = { op: "pay.payment.create", args: { sum: 5 }, idempotencyKey: "same" };
  const pay = (principal: Principal) => gateway.exec(call, { principal });
  expect(await pay(before)).toMatchObject({ ok: true, result: { number: 1 } });
  expect(await pay(before)).toMatchObject({ ok: true, result: { number: 1 } });
  expect(await pay(other)).toMatchObject({ ok: true, result: { number: 2 } });
  expect(await pay(after)).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
  expect(paid).toEqual([5, 5]);
});

test("T4: an idempotency key answers no call of another tool that took over the op, and runs nothing", async () => {
  const { gateway, paid } = open();
  const pay = () =>
    gateway.exec(
      { op: "pay.payment.create", args: { sum: 5 }, idempotencyKey: "same" },
      { principal: before },
    );
  expect(await pay()).toMatchObject({ ok: true, result: { number: 1 } });
  await gateway.setDomains([payDomain(paid, "Pays a sum in advance.")]);
  expect(await pay()).toMatchObject({ ok: false, error: { code: "CONFLICT" } });
  await gateway.setDomains([payDomain(paid, "Pays a sum.")]);
  expect(await pay()).toMatchObject({ ok: true, result: { number: 1 } });
  expect(paid).toEqual([5]);
});

test("T4: a plan runs by the scopes of whoever runs it, not by those that made it", async () => {
  const { gateway, paid } = open();
  const code =
    "const all = await tools.pay.salary.list({}); await tools.pay.payment.create({ sum: all[0] }); return all;";
  const plan = async () => {
    const { text } = await gateway.run({ code, dryRun: true }, { principal: before });
    return /plan_[\w-]+/.exec(text)![0];
  };
  const run = async (principal: Principal) => gateway.run({ plan: await plan() }, { principal });
  expect(await run(other)).toMatchObject({ ok: false, error: { code: "UNKNOWN_HANDLE" } });
  const revoked = await run(after);
  expect(revoked).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
  expect(JSON.stringify(revoked)).not.toContain("1002");
  expect(paid).toEqual([]);
  expect(await run(before)).toMatchObject({ ok: true, result: [1_001, 1_002] });
  expect(paid).toEqual([1_001]);
});
