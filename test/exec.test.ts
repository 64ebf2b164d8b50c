import { setTimeout as sleep } from "node:timers/promises";
import { createGateway, defineDomain, defineTool, problem } from "keyhole";
import { expect, test } from "vitest";
import { z } from "zod";
import { verifies } from "./claims.ts";
import { clerk, createShop, reader } from "./shop.ts";

verifies("exec:envelope", "success carries result and meta", async () => {
  const gateway = createGateway({ domains: createShop().domains, principal: clerk });
  const answer = await gateway.exec({ op: "shop.order.list", args: { limit: 2 } });
  expect(answer).toMatchObject({
    op: "shop.order.list",
    ok: true,
    result: { orders: [{ id: 0 }, { id: 1 }] },
  });
  expect(answer.meta).toMatchObject({ traceId: expect.stringMatching(/^tr_/), warnings: [] });
  expect(answer.meta.latencyMs).toBeGreaterThanOrEqual(0);
});

verifies(
  "exec:envelope",
  "wrong args name the field, the nearest argument, the schema and an example",
  async () => {
    const gateway = createGateway({ domains: createShop().domains, principal: clerk });
    const answer = await gateway.exec({ op: "shop.order.create", args: { custmer: "c1", count: "3" } });
    if (answer.ok) throw answer;
    expect(answer.error).toMatchObject({ code: "INVALID_PARAMS", helpPath: "shop.order.create" });
    const { fieldErrors, schema, example } = answer.error.details as Record<string, never>;
    expect(fieldErrors).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ field: "custmer", nearest: "customer" }),
        expect.objectContaining({ field: "count", message: expect.stringMatching(/integer|number/) }),
      ]),
    );
    expect(schema).toMatchObject({ required: ["customer"] });
    expect(example).toHaveProperty("customer");
    const again = await gateway.exec({ op: "shop.order.create", args: example });
    expect(again.ok).toBe(true);
  },
);

verifies("exec:envelope", "an unknown op is answered with the nearest ops", async () => {
  const gateway = createGateway({ domains: createShop().domains, principal: clerk });
  const answer = await gateway.exec({ op: "shop.order.crate" });
  if (answer.ok) throw answer;
  expect(answer.error.code).toBe("NOT_FOUND");
  expect(answer.error.details.nearest).toContain("shop.order.create");
});

test("a near name is told once, by its op", async () => {
  const tools = ["write_file", "read_file"].map((name) =>
    defineTool({ name, op: `files.${name}`, description: "A tool.", execute: () => 1 }),
  );
  const domains = [defineDomain({ name: "files", description: "Files.", tools })];
  const answer = await createGateway({ domains, principal: clerk }).exec({ op: "files.write_fil" });
  if (answer.ok) throw answer;
  expect(answer.error.details.nearest).toEqual(["files.write_file"]);
});

verifies("exec:allow-write", "a read-only caller cannot write but may run dry", async () => {
  const { domains, calls } = createShop();
  const gateway = createGateway({ domains, principal: reader });
  const refused = await gateway.exec({ op: "shop.order.create", args: { customer: "c1" } });
  if (refused.ok) throw refused;
  expect(refused.error.code).toBe("PERMISSION_DENIED");
  const dry = await gateway.exec({ op: "shop.order.create", args: { customer: "c1" }, dryRun: true });
  expect(dry).toMatchObject({ ok: true, result: { simulated: true, would_call: "shop.order.create" } });
  expect(calls.made).toEqual([]);
});

verifies(
  "exec:dry-run",
  "a destructive tool runs dry where nobody can be asked, whatever the call says",
  async () => {
    const { domains, calls } = createShop();
    const gateway = createGateway({ domains, principal: clerk });
    const dry = await gateway.exec({ op: "shop.order.delete", args: { id: 7 } });
    expect(dry).toMatchObject({ ok: true, result: { would_delete: 7 }, meta: { dryRun: true } });
    expect(dry.meta.warnings[0]).toContain("nothing was changed");
    expect(dry.text).not.toContain("dry_run");
    expect(calls.made).toEqual([]);
    const call = { op: "shop.order.delete", args: { id: 7 } };
    const refused = await gateway.exec({ ...call, dryRun: false });
    expect(refused).toMatchObject({ error: { code: "APPROVAL_REQUIRED" } });
    expect(calls.made).toEqual([]);
    const real = await gateway.exec(call, { approve: () => true });
    expect(real).toMatchObject({ ok: true, result: { deleted: 7 } });
    expect(calls.made).toEqual([{ tool: "delete_order", params: { id: 7 } }]);
  },
);

verifies("exec:idempotency", "a key runs a call once, even while the first run is in progress", async () => {
  const { domains, calls } = createShop();
  const gateway = createGateway({ domains, principal: clerk });
  const call = { op: "shop.order.create", args: { customer: "c1" }, idempotencyKey: "k" };
  const [first, second] = await Promise.all([gateway.exec(call), gateway.exec(call)]);
  const third = await gateway.exec(call);
  expect(calls.made).toHaveLength(1);
  expect([second, third].map((answer) => answer.ok && answer.result)).toEqual(
    [first, first].map((answer) => answer.ok && answer.result),
  );
  const other = await gateway.exec({ ...call, args: { customer: "c2" } });
  expect(other).toMatchObject({ ok: false, error: { code: "CONFLICT" } });
  const elsewhere = await gateway.exec(
    { ...call, args: { customer: "c2" } },
    { principal: { ...clerk, id: "clerk2" } },
  );
  expect(elsewhere.ok).toBe(true);
});

verifies("exec:approval", "a tool that requires confirmation runs only the approved call", async () => {
  const { domains, calls } = createShop();
  const call = { op: "shop.refund.send", args: { customer: "c1", cents: 500 }, idempotencyKey: "refund" };
  const alone = createGateway({ domains, principal: clerk });
  expect(await alone.exec(call)).toMatchObject({ ok: false, error: { code: "APPROVAL_REQUIRED" } });

  const asked: string[] = [];
  let decision = false;
  const gateway = createGateway({
    domains,
    principal: clerk,
    approve: ({ hash, args }) => {
      asked.push(`${hash} ${JSON.stringify(args)}`);
      return decision;
    },
  });
  expect(await gateway.exec(call)).toMatchObject({ ok: false, error: { code: "APPROVAL_REQUIRED" } });
  expect(calls.made).toEqual([]);
  decision = true;
  expect(await gateway.exec(call)).toMatchObject({ ok: true, result: "sent" });
  expect(asked).toHaveLength(2);
  expect(new Set(asked).size).toBe(1);
});

function single(execute: (signal: AbortSignal) => unknown, extra: object = {}) {
  const tool = defineTool({
    name: "probe",
    description: "Does what the test wants.",
    inputSchema: z.object({}),
    execute: (_, { signal }) => execute(signal),
    ...extra,
  });
  return createGateway({
    domains: [defineDomain({ name: "lab", description: "For tests.", tools: [tool] })],
  });
}

verifies("exec:deadline", "a tool that hangs ends at its limit", async () => {
  let raised = false;
  const gateway = single(
    (signal) => {
      signal.addEventListener("abort", () => {
        raised = true;
      });
      return new Promise(() => {});
    },
    { timeoutMs: 30 },
  );
  const answer = await gateway.exec({ op: "lab.probe" });
  expect(answer).toMatchObject({
    ok: false,
    error: { code: "TIMEOUT", message: expect.stringContaining("30 ms") },
  });
  expect(raised).toBe(true);
});

verifies("exec:cancel", "the caller's signal ends the call and reaches the tool", async () => {
  const seen: unknown[] = [];
  const gateway = single(async (signal) => {
    await sleep(10_000, undefined, { signal }).catch((error) => seen.push(error.name));
  });
  const controller = new AbortController();
  const call = gateway.exec({ op: "lab.probe" }, { signal: controller.signal });
  await sleep(20);
  controller.abort();
  expect(await call).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  await sleep(5);
  expect(seen).toEqual(["AbortError"]);
});

verifies(
  "exec:envelope",
  "an exception becomes a problem with a trace id; a tool's own problems are kept",
  async () => {
    const gateway = single(() => {
      throw new TypeError("boom \u001b[31m\u202e");
    });
    const answer = await gateway.exec({ op: "lab.probe" });
    expect(answer).toMatchObject({
      ok: false,
      error: {
        code: "INTERNAL",
        message: "lab.probe failed: boom \\u001b[31m\\u202e",
        helpPath: "lab.probe",
      },
    });
    const stale = single(() => {
      throw problem("CONFLICT", { reason: "The page has changed." });
    });
    expect(await stale.exec({ op: "lab.probe" })).toMatchObject({
      ok: false,
      error: { code: "CONFLICT", message: "The page has changed." },
    });
  },
);

verifies("exec:envelope", "results that are not JSON are converted or refused", async () => {
  const nothing = await single(() => undefined).exec({ op: "lab.probe" });
  expect(nothing).toMatchObject({ ok: true, result: null });
  expect(nothing.meta.warnings.join()).toMatch(/nothing/);
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  expect(await single(() => cycle).exec({ op: "lab.probe" })).toMatchObject({
    ok: false,
    error: { code: "RESULT_INVALID" },
  });
});
