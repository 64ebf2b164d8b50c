// exec answers in one envelope, whatever is wrong with the request.
import { createGateway, defineDomain, defineTool, loadTokenCounter } from "keyhole";
import { afterAll, describe, expect, test } from "vitest";
import { verifies } from "./claims.ts";
import { clerk, createShop } from "./shop.ts";

const { domains, calls } = createShop();
const gateway = createGateway({ domains, principal: clerk, limits: { sessionTokens: 40 } });
afterAll(() => gateway.close());

describe("exec", () => {
  test.each([
    ["args of a wrong type", { op: "shop.order.create", args: 7 }, "INVALID_INPUT"],
    ["args that are no JSON", { op: "shop.order.create", args: "{customer" }, "INVALID_INPUT"],
    ["neither op nor route", {}, "INVALID_INPUT"],
    ["no object at all", "shop.order.create", "INVALID_INPUT"],
    ["an unknown session", { op: "shop.order.list", session: "ses_made-up" }, "UNKNOWN_HANDLE"],
    ["an unknown op", { op: "shop.order.crate" }, "NOT_FOUND"],
  ])("%s is answered in the envelope", async (_, input, code) => {
    const answer = await gateway.exec(input as never);
    expect(answer).toMatchObject({
      ok: false,
      op: expect.any(String),
      error: { code, next: expect.stringMatching(/\w/), helpPath: expect.stringMatching(/\w/) },
      meta: { traceId: expect.stringMatching(/^tr_/), warnings: [] },
    });
    expect(answer.text).toContain(code);
  });

  test("a used-up budget is answered in the envelope", async () => {
    const session = await gateway.openSession();
    await gateway.exec({ op: "shop.order.list", args: { limit: 20 }, session });
    const answer = await gateway.exec({ op: "shop.order.list", session });
    expect(answer).toMatchObject({ ok: false, error: { code: "BUDGET_EXCEEDED", helpPath: "root" } });
  });

  test("args as JSON text are read, other spellings are taken, unknown fields are told", async () => {
    const made = await gateway.exec({ op: "shop.order.create", args: '{"customer":"c7"}' as never });
    expect(made).toMatchObject({ ok: true, result: { customer: "c7" } });
    const spelt = { tool: "shop.order.create", arguments: { customer: "c8" }, loud: true };
    const taken = await gateway.exec(spelt as never);
    expect(taken).toMatchObject({ ok: true, result: { customer: "c8" } });
    expect(taken.text).toContain("[ignored unknown fields: loud]");
    const empty = { op: "shop.order.create", route: "", idempotencyKey: null, args: { customer: "c9" } };
    expect(await gateway.exec(empty as never)).toMatchObject({ ok: true });
    expect(calls.made.map(({ params }) => params)).toEqual([
      { customer: "c7" },
      { customer: "c8" },
      { customer: "c9" },
    ]);
  });
});

verifies(["answers:well-formed", "huge-result"], "no answer carries half a surrogate pair", async () => {
  const half = "broken \ud83d here";
  const tool = defineTool({ name: "read_log", description: "Read a log.", execute: () => ({ line: half }) });
  const logs = createGateway({
    domains: [defineDomain({ name: "logs", description: "Logs.", tools: [tool] })],
  });
  const answers = [
    await logs.exec({ op: "logs.log.read" }),
    await logs.get({ routes: [{ route: "logs.log.read" }] }),
    await logs.exec({ op: `logs.${half}` }),
    await logs.ask({ query: `zzz ${half}` }),
    await logs.help({ path: half }),
  ];
  for (const { text } of answers) expect(text.isWellFormed(), text).toBe(true);
  await logs.close();
});

verifies(
  "help:within-budget",
  "the help of a tool of 400 fields keeps its budget, the rest by a handle",
  async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 400 }, (_, index) => [
        `field_${index}`,
        { type: "string", description: "One of very many fields, with a description of some length." },
      ]),
    );
    const form = defineTool({
      name: "fill_form",
      op: "forms.form.fill",
      description: "Fill a form.",
      inputSchema: { type: "object", properties, required: ["field_300"] },
      execute: () => true,
    });
    const forms = createGateway({
      domains: [defineDomain({ name: "forms", description: "Forms.", tools: [form] })],
    });
    const countTokens = await loadTokenCounter();
    for (const input of [
      { path: "forms.form.fill" },
      { path: "forms.form.fill", format: "full" as const, includeSchemas: true },
    ]) {
      const { text } = await forms.help(input);
      expect(countTokens(text)).toBeLessThanOrEqual(1_500);
      expect(text).toContain("field_300: string");
      const handle = /result:\/\/[\w-]+/.exec(text)?.[0] ?? "";
      const { results } = await forms.get({
        routes: [{ route: handle, params: { path: "/args/399/name" } }],
      });
      expect(JSON.stringify(results)).toMatch(/field_\d+/);
    }
    await forms.close();
  },
);
