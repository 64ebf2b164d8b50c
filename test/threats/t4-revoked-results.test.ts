import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { keeperOf } from "../../src/core/storage/result-keeper.ts";
import { closePostgres, FILES, MEMORY, PGLITE, type StateKind } from "../state/open-state.ts";

afterAll(closePostgres);

const before: Principal = { id: "ann", scopes: ["pay", "mail"], allowWrite: true };
/** The same principal without the scope of the tool. */
const after: Principal = { ...before, scopes: ["mail"] };
const narrow: Principal = { ...before, scopes: ["pay"] };

const HANDLE = /result:\/\/[\w-]+/;
const SALARIES = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `salary-${id}` }));

function payDomain(scope: string) {
  const tool = { lane: "read" as const, requiredScopes: [scope], inputSchema: z.object({}) };
  return defineDomain({
    name: "pay",
    description: "Pays salaries.",
    tools: [
      defineTool({
        ...tool,
        name: "list_salaries",
        op: "pay.salary.list",
        description: "Lists salaries.",
        extraction: { path: "$root", type: "salary", nameField: "name", isArray: true },
        execute: () => SALARIES,
      }),
      defineTool({
        ...tool,
        name: "raise_salaries",
        op: "pay.salary.raise",
        description: "Raises salaries.",
        lane: "destructive",
        execute: () => SALARIES,
      }),
    ],
  });
}

/** More tools than a listing shows, with more args than their help shows. */
function manyDomain(scope: string) {
  const args = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`arg_${at}`, z.string()]));
  return defineDomain({
    name: "many",
    description: "Makes many things.",
    tools: Array.from({ length: 600 }, (_, at) =>
      defineTool({
        name: `make_${at}`,
        op: `many.thing.make_${at}`,
        description: "Makes a thing.",
        lane: "read",
        requiredScopes: [scope],
        inputSchema: z.object(at === 0 ? args : {}),
        execute: () => at,
      }),
    ),
  });
}

async function open(kind: StateKind) {
  const { sessions, results, idempotency } = await (await kind.create()).open();
  const limits = { resultTokens: 2_000, helpTokens: 500 };
  const gateway = createGateway({ domains: [payDomain("pay")], sessions, results, idempotency, limits });
  onTestFinished(() => gateway.close());
  const read = (route: string, principal: Principal) => gateway.get({ routes: [{ route }] }, { principal });
  return { gateway, results, read };
}

const closed = (handle: string) => ({
  ok: false,
  error: { code: "UNKNOWN_HANDLE", message: expect.stringContaining(handle) },
});

describe.each([MEMORY, FILES, PGLITE])("in $name", (kind) => {
  test("T4: a stored result is closed to its principal once the scope of its tool is gone", async () => {
    const { gateway, read } = await open(kind);
    const stored = async (made: Promise<{ readonly text: string }>) => HANDLE.exec((await made).text)![0];
    const call = (principal: Principal) => gateway.exec({ op: "pay.salary.list" }, { principal });
    const listed = await stored(call(before));
    expect(await read(listed, before)).toMatchObject({ ok: true });
    expect(await read(listed, narrow)).toMatchObject({ ok: true });
    expect(await read(listed, after)).toMatchObject(closed(listed));
    const keyed = { op: "pay.salary.raise", dryRun: false, idempotencyKey: "k" };
    const approving = { principal: before, approve: () => true };
    const raised = await stored(gateway.exec(keyed, approving));
    expect(await stored(gateway.exec(keyed, approving))).toBe(raised);
    expect(await read(raised, after)).toMatchObject(closed(raised));
    // A script may have put anything that its caller saw into its result.
    const code = "return (await tools.pay.salary.list({})).map(({ name }) => name);";
    const computed = await stored(gateway.run({ code }, { principal: before }));
    expect(await read(computed, before)).toMatchObject({ ok: true });
    for (const principal of [after, narrow])
      expect(await read(computed, principal)).toMatchObject(closed(computed));
  });

  test("T4: a stored result is closed once its tool needs a scope that the principal lacks", async () => {
    const { gateway, read } = await open(kind);
    const made = await gateway.exec({ op: "pay.salary.list" }, { principal: before });
    const [handle] = HANDLE.exec(made.text)!;
    const code = "return await tools.pay.salary.list({});";
    const [computed] = HANDLE.exec((await gateway.run({ code }, { principal: before })).text)!;
    await gateway.setDomains([payDomain("audit")]);
    expect(await read(handle, before)).toMatchObject(closed(handle));
    expect(await read(computed, before)).toMatchObject(closed(computed));
    await gateway.setDomains([payDomain("pay")]);
    expect(await read(handle, before)).toMatchObject({ ok: true });
  });

  test("T4: a stored listing is closed once an entry that it lists is no longer seen", async () => {
    const { gateway, read } = await open(kind);
    await gateway.setDomains([payDomain("pay"), manyDomain("mail")]);
    const described = async (path: string, more = {}) =>
      HANDLE.exec((await gateway.help({ path, ...more }, { principal: before })).text)![0];
    const listed = await described("many");
    const entry = await described("many.thing.make_0", { includeSchemas: true });
    const wrong = await gateway.exec({ op: "many.thing.make_0", args: { arg_0: 1 } }, { principal: before });
    const [details] = HANDLE.exec(wrong.text)!;
    for (const handle of [listed, entry, details]) {
      expect(await read(handle, before)).toMatchObject({ ok: true });
      expect(await read(handle, narrow)).toMatchObject(closed(handle));
    }
    // Entries that nobody listed do not matter.
    await gateway.setDomains([payDomain("audit"), manyDomain("mail")]);
    for (const handle of [entry, details]) expect(await read(handle, before)).toMatchObject({ ok: true });
    await gateway.setDomains([payDomain("pay"), manyDomain("audit")]);
    for (const handle of [listed, entry, details])
      expect(await read(handle, before)).toMatchObject(closed(handle));
    await gateway.setDomains([payDomain("pay"), manyDomain("mail")]);
    for (const handle of [listed, entry, details])
      expect(await read(handle, before)).toMatchObject({ ok: true });
  });

  test("T4: a session names no result and no entity of a tool whose scope is gone", async () => {
    const { gateway } = await open(kind);
    const session = await gateway.openSession({ principal: before });
    await gateway.exec({ op: "pay.salary.list" }, { principal: before, session });
    const show = async (principal: Principal) =>
      (await gateway.get({ routes: [{ route: `session://${session}` }] }, { principal })).text;
    for (const word of ["salary-", "result://", "pay.salary.list"])
      expect([word, await show(before)]).toEqual([word, expect.stringContaining(word)]);
    for (const word of ["salary", "result://", "pay."])
      expect([word, await show(after)]).toEqual([word, expect.not.stringContaining(word)]);
  });

  test("T4: values that say nothing about their tool are closed", async () => {
    const { results, read } = await open(kind);
    for (const value of ["old", SALARIES, { value: "old" }, null]) {
      const handle = `result://${"o".repeat(20)}${JSON.stringify(value).length}`;
      await results.put(handle, value, before.id);
      expect(await read(handle, before)).toMatchObject(closed(handle));
    }
  });
});

test("T4: a plan answers nothing again that its principal may no longer see", async () => {
  const { gateway } = await open(MEMORY);
  const code = (read: string) =>
    `const seen = await ${read}; await tools.pay.salary.raise({}); return JSON.stringify(seen).slice(0, 500);`;
  for (const read of ["tools.pay.salary.list({})", 'ask("salaries")', 'help("pay")']) {
    const planned = await gateway.run({ code: code(read) }, { principal: before });
    const [plan] = /plan_[\w-]+/.exec(planned.text)!;
    const performed = await gateway.run({ plan }, { principal: after, approve: () => true });
    expect(performed).toMatchObject({ ok: false, error: { code: "UNKNOWN_HANDLE" } });
    expect(performed.text).not.toContain("salar");
    expect(await gateway.run({ plan }, { principal: before, approve: () => true })).toMatchObject({
      ok: true,
    });
  }
});

test("T4: the same value kept for two tools is closed for each by its own scopes", async () => {
  const { results } = await open(MEMORY);
  const keeper = keeperOf(results);
  const entry = (route: string, scopes: string[]) => ({ route, scopes });
  const first = keeper.keep(SALARIES, before, entry("a://open", []));
  const second = keeper.keep(SALARIES, before, entry("a://closed", ["pay"]));
  expect(keeper.keep(SALARIES, before, entry("a://open", [])).handle).not.toBe(second.handle);
  const sight = { principal: after, version: "1", find: () => ({}) };
  expect(await keeper.read(first.handle, sight)).toEqual(SALARIES);
  await expect(keeper.read(second.handle, sight)).rejects.toMatchObject({ code: "UNKNOWN_HANDLE" });
});
