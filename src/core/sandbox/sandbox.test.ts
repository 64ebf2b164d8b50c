import { afterAll, describe, expect, test } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { createRunner, echo, SCRIPT_LIMITS as LIMITS } from "../../../test/sandbox-kit.ts";
import { createSandbox } from "./create-sandbox.ts";
import type { ScriptAnswer, ScriptRequest } from "./sandbox.ts";

const sandbox = createSandbox();
afterAll(() => sandbox.close());
const { run, returned } = createRunner(sandbox);

describe("a script", () => {
  test("returns a value, in JavaScript or TypeScript", async () => {
    expect(await returned("return [1, 'two', { three: null }]")).toEqual([1, "two", { three: null }]);
    const typed = "interface A { n: number } const f = <T,>(x: T): T => x; return f<A>({ n: 1 } as A)!.n";
    expect(await returned(typed)).toBe(1);
    expect(await returned("")).toBeNull();
  });

  test("returns maps, sets, big numbers, dates and errors as JSON", async () => {
    const code = "return [new Map([[1, 2]]), new Set([3]), 4n, new Date(0), new TypeError('five')]";
    const error = { name: "TypeError", message: "five" };
    expect(await returned(code)).toEqual([[[1, 2]], [3], "4", "1970-01-01T00:00:00.000Z", error]);
  });

  test("calls tools by name or address, asks, describes and pauses", async () => {
    expect(await returned("return tools.shop.order.list({ page: 2 })")).toEqual({
      kind: "call",
      address: "shop.order.list",
      args: { page: 2 },
    });
    expect(await returned("return call('shop://tools/order/list', {})")).toMatchObject({
      address: "shop://tools/order/list",
    });
    expect(await returned("return [await ask('refund'), await help('shop'), await sleep(5)]")).toEqual([
      { kind: "ask", query: "refund" },
      { kind: "help", path: "shop" },
      { kind: "sleep", ms: 5 },
    ]);
    expect(await returned("return params.city", { params: '{"city":"Oslo"}' })).toBe("Oslo");
  });

  test("gets and gives every text as it is", async () => {
    const text = 'Grüße, 世界 👩‍👩‍👧 \u0000\u2028\uFEFF \\ " end';
    const lone = "\ud83d";
    const value = { [text]: [text, lone] };
    const code = "const r = await call('x', params); return [r, params, Object.keys(r.value)[0].length]";
    const serve = ({ args }: ScriptRequest) => ({ ok: true, value: { value, args } });
    expect(await returned(code, { serve, params: JSON.stringify({ text }) })).toEqual([
      { value, args: { text } },
      { text },
      text.length,
    ]);
    expect(await returned(`return ${JSON.stringify(text)}`)).toBe(text);
  });

  test("reads results that are larger than the memory was", async () => {
    const value = "é".repeat(7_000_000);
    const limits = { memoryBytes: 256 * 1024 * 1024 };
    const code = "const all = await call('x'); return [all.length, all.at(-1)]";
    expect(await returned(code, { serve: () => ({ ok: true, value }), limits })).toEqual([7_000_000, "é"]);
    expect(await returned("return 1")).toBe(1);
  });

  test("has no clock but the start, and the same random numbers each time", async () => {
    const code =
      "return [Date.now(), new Date().getTime(), new (new Date()).constructor().getTime(), typeof performance]";
    expect(await returned(code)).toEqual([86_400_000, 86_400_000, 86_400_000, "undefined"]);
    expect(await returned("return new Date(2020, 0, 1) instanceof Date")).toBe(true);
    const random = "return [Math.random(), Math.random()]";
    expect(await returned(random)).toEqual(await returned(random));
  });

  test("gets problems as errors that it can catch", async () => {
    const problem = { code: "NOT_FOUND", message: "No such order.", next: "Look again." };
    const serve = () => ({ ok: false, value: problem });
    const caught =
      "try { await call('x') } catch (e) { return [e instanceof Error, e.code, e.message, e.next] }";
    expect(await returned(caught, { serve })).toEqual([true, "NOT_FOUND", "No such order.", "Look again."]);
    const { end } = await run("await call('x')", { serve });
    expect(end).toMatchObject({ end: "threw", error: { name: "Problem", problem: JSON.stringify(problem) } });
  });

  test("fails with the line of the error", async () => {
    const { end } = await run("const a = 1;\nconst b = 2;\nthrow new RangeError('too far');");
    expect(end).toEqual({ end: "threw", error: { name: "RangeError", message: "too far", line: 3 } });
    expect((await run("const = 2")).end).toMatchObject({ error: { name: "SyntaxError", line: 1 } });
  });

  test("logs, also before it fails", async () => {
    const { logs } = await run("log('a', { b: 1 }); console.error(2); throw 3");
    expect(logs).toEqual(['a {"b":1}', "2"]);
  });

  test("is told which field of a result does not exist", async () => {
    const value = { items: [{ id: 1 }, { id: 2, note: "sometimes" }] };
    const serve = () => ({ ok: true, value, label: "shop.order.list" });
    const { end, misses } = await run("const all = await call('x'); return all.itmes.length", { serve });
    expect(end).toMatchObject({ end: "threw", error: { name: "TypeError" } });
    expect(misses).toEqual([{ label: "shop.order.list", field: "itmes", fields: ["items"] }]);
    const fine =
      "const a = await call('x'); return [a instanceof Object, { ...a }, Object.keys(a), String(a), a, a.items[0].note]";
    const whole = await run(fine, { serve });
    expect(whole.misses).toEqual([]);
    expect(whole.end).toMatchObject({ end: "returned" });
  });

  test("is told so at every depth of a result", async () => {
    const value = [{ text: "}]", sites: [[{ pages: { first: { id: 1 } } }]] }, 2, null];
    const serve = () => ({ ok: true, value, label: "cms.site.list" });
    const code =
      "const [{ sites }] = await call('x'); const [[{ pages }]] = sites; return [pages.last, pages.first.name]";
    const { misses } = await run(code, { serve });
    expect(misses.map(({ field, fields }) => [field, fields])).toEqual([
      ["last", ["first"]],
      ["name", ["id"]],
    ]);
  });
});

describe("a hostile script", () => {
  const SHORT = { limits: { computeMs: 200 } };

  test.each([
    ["a loop", "while (true) {}"],
    ["a getter", "const o = { get x() { while (true) {} } }; return o.x"],
    ["a getter read by JSON", "return JSON.stringify({ get x() { for (;;) {} } })"],
    ["toJSON", "return { toJSON() { for (;;) {} } }"],
    ["a regular expression", "return /^(a+)+$/.test('a'.repeat(60) + 'b')"],
    ["a sort comparator", "return [3, 2, 1].sort(() => { for (;;) {} })"],
    ["promises", "const again = () => Promise.resolve().then(again); await again()"],
    ["a proxy", "return new Proxy({}, { ownKeys() { for (;;) {} } })"],
    ["a catch that goes on", "for (;;) { try { for (;;) {} } catch {} }"],
    ["a finally that goes on", "try { for (;;) {} } finally { for (;;) {} }"],
    ["code made at run time", "return new Function('for (;;) {}')()"],
  ])("does not run forever in %s", async (_, code) => {
    expect((await run(code, SHORT)).end).toEqual({ end: "stopped", why: "compute" });
  });

  test("is ended inside one long step of the engine", async () => {
    const code = "const big = 3n ** 900000n; return ((big * big) % (big - 1n)).toString().length";
    const { end } = await run(code, { limits: { computeMs: 50 } });
    expect(end.end).not.toBe("returned");
    expect(await returned("return 1")).toBe(1);
  });

  test.each([
    ["an array", "const all = []; for (;;) all.push(new Array(1000).fill(all.length))"],
    ["a text", "let text = 'x'; for (;;) text += text + text.length"],
    ["one repeat", "return 'x'.repeat(2 ** 29)"],
    ["a buffer", "return new Uint8Array(2 ** 30).length"],
  ])("gets no more memory by %s", async (_, code) => {
    const { end } = await run(code, { limits: { computeMs: 1_000 } });
    // Collecting garbage at the limit may use up the time first.
    expect(end.end === "stopped" ? end.why : end.end).toMatch(/memory|compute|threw/);
  });

  test("does not overflow the stack of the thread", async () => {
    for (const code of ["const f = () => f(); f()", "JSON.parse('['.repeat(50000))"])
      expect((await run(code)).end).toMatchObject({ end: "threw" });
    await run("let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o", SHORT);
    expect(await returned("return 1")).toBe(1);
  });

  test("makes no more calls than allowed, and keeps what it may keep", async () => {
    let calls = 0;
    const serve = (request: ScriptRequest) => {
      calls += 1;
      return echo(request);
    };
    const code = "await Promise.all(Array.from({ length: 10000 }, (_, i) => call('x', { i })))";
    expect((await run(code, { serve })).end).toMatchObject({ end: "threw", error: { name: "Problem" } });
    expect(calls).toBeLessThanOrEqual(LIMITS.requests);
    expect((await run("await call('x', { a: 'y'.repeat(200000) })")).end).toMatchObject({ end: "threw" });
    expect((await run("return 'y'.repeat(200000)")).end).toMatchObject({ end: "threw" });
    const { logs } = await run("for (let i = 0; i < 1000; i++) log('y'.repeat(1000))");
    expect(logs.join("").length).toBeLessThanOrEqual(LIMITS.chars);
  });

  verifies("run:sandbox", "reaches no global of the thread or of Node", async () => {
    const code = `
      const found = [];
      const make = [globalThis, call, log, tools, (await call("x")), call("x")].map((o) => o.constructor?.constructor ?? o.constructor);
      for (const maker of [...make, Function, (async () => {}).constructor, (function* () {}).constructor]) {
        try { found.push(await maker("return [typeof process, typeof require, typeof Buffer, typeof fetch, typeof setTimeout, typeof WebAssembly, typeof Atomics, typeof SharedArrayBuffer]")()); } catch {}
      }
      return [...new Set(found.flat().map(String))].filter((type) => type.length < 20);`;
    const types = (await returned(code)) as string[];
    expect(types.filter((type) => type !== "undefined" && type !== "[object Generator]")).toEqual([]);
    expect(await returned("try { await import('node:fs'); return 1 } catch { return 2 }")).toBe(2);
  });

  test("changes nothing outside by its prototypes", async () => {
    const code = `
      Object.prototype.polluted = 1; Array.prototype.map = () => "mine"; JSON.parse = () => "forged"; JSON.stringify = () => "{}";
      Promise.prototype.then = undefined; Map.prototype.get = () => undefined;
      return { ["__proto__"]: { polluted: 2 }, constructor: 3 }`;
    await run(code);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(await returned("return [{}.polluted, [1].map((x) => x + 1), JSON.parse('1')]")).toEqual([
      null,
      [2],
      1,
    ]);
    const seen: ScriptRequest[] = [];
    const serve = (request: ScriptRequest) => {
      seen.push(request);
      return { ok: true, value: JSON.parse('{"__proto__":{"a":1},"then":"not a promise"}') };
    };
    const back = await returned(
      "const r = await call('x', JSON.parse('{\"__proto__\":{\"a\":1}}')); return [r.then, r.a]",
      { serve },
    );
    expect(back).toEqual(["not a promise", null]);
    expect(Object.getPrototypeOf(seen[0]!.args)).toBe(Object.prototype);
  });

  test.each([
    ["nothing", "Object.prototype.toJSON = () => undefined; return call('x')"],
    ["a number", "Object.prototype.toJSON = () => 1; return call('x')"],
    ["an error", "Object.prototype.toJSON = () => { throw 1 }; return call('x')"],
    ["fields of nothing", "String.prototype.toJSON = () => undefined; return call('x')"],
  ])("T17: harms only itself if its calls become %s", async (_, code) => {
    await run(code);
    expect(await returned("return call('x')")).toMatchObject({ kind: "call" });
  });

  test.each([
    ["an error whose toString throws", "throw { toString() { throw 1 }, toJSON() { throw 2 } }"],
    [
      "an error whose message throws",
      "throw Object.defineProperty(new Error(), 'message', { get() { throw 1 } })",
    ],
    ["an error whose name is an object", "throw Object.assign(new Error('x'), { name: {} })"],
    ["a symbol", "throw Symbol('x')"],
    ["nothing", "throw undefined"],
    ["a proxy", "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })"],
  ])("fails as any other by throwing %s", async (_, code) => {
    expect((await run(code)).end).toMatchObject({ end: "threw" });
  });

  test("is ended if it waits for nothing", async () => {
    expect((await run("await new Promise(() => {})")).end).toEqual({ end: "stopped", why: "stuck" });
    expect((await run("return { then() {} }")).end).toEqual({ end: "stopped", why: "stuck" });
  });

  test("is ended when its time is over, or its caller leaves, while it waits", async () => {
    const never = { request: () => {} };
    const script = {
      code: "await call('x')",
      now: 0,
      seed: [1, 2, 3, 4],
      params: "null",
      limits: LIMITS,
    } as const;
    const late = { ...script, limits: { ...LIMITS, timeMs: 50 } };
    const { signal } = new AbortController();
    expect((await sandbox.run(late, never, { signal, owner: "me" })).end).toEqual({
      end: "stopped",
      why: "time",
    });
    const left = await sandbox.run(script, never, { signal: AbortSignal.timeout(50), owner: "me" });
    expect(left.end).toEqual({ end: "stopped", why: "cancelled" });
    expect(await returned("return 1")).toBe(1);
  });
});

test("many scripts run at once, and one owner does not keep others out", async () => {
  const open: (() => void)[] = [];
  const wait = {
    request: (_: unknown, __: number, answer: (a: ScriptAnswer) => void) =>
      open.push(() => answer({ ok: true, value: 1 })),
  };
  const script = {
    code: "return call('x')",
    now: 0,
    seed: [1, 2, 3, 4],
    params: "null",
    limits: LIMITS,
  } as const;
  const { signal } = new AbortController();
  const greedy = Array.from({ length: 30 }, () => sandbox.run(script, wait, { signal, owner: "greedy" }));
  expect(await returned("return 1")).toBe(1);
  let done = 0;
  const all = Promise.all(greedy).then((outcomes) => outcomes.map(({ end }) => end.end));
  while (done < 30) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const answer of open.splice(0)) {
      done += 1;
      answer();
    }
  }
  expect(new Set(await all)).toEqual(new Set(["returned"]));
});
