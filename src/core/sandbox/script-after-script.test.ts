import { afterAll, describe, expect, test } from "vitest";
import { createRunner, SCRIPT_LIMITS as LIMITS } from "../../../test/sandbox-kit.ts";
import { createSandbox } from "./create-sandbox.ts";
import { takeMemoryImage } from "./load-quickjs.ts";
import type { ScriptAnswer, ScriptLimits } from "./sandbox.ts";

const sandbox = createSandbox();
afterAll(() => sandbox.close());
const { run, returned } = createRunner(sandbox);

describe("a script after another in the same thread", () => {
  const script = (code: string) =>
    ({ code, now: 0, seed: [1, 2, 3, 4], params: "null", limits: LIMITS }) as const;
  const { signal } = new AbortController();
  type Answer = (answer: ScriptAnswer) => void;

  test("T13: never gets an answer that was meant for the earlier one", async () => {
    let late: Answer = () => {};
    const leaving = {
      request: (_: unknown, __: number, answer: Answer) => {
        late = answer;
      },
    };
    const first = await sandbox.run(script("call('x'); return 1"), leaving, { signal, owner: "first" });
    expect(first.end.end).toBe("returned");
    const host = {
      request: (_: unknown, __: number, answer: Answer) => {
        late({ ok: true, value: "of the first" });
        answer({ ok: true, value: "of the second" });
      },
    };
    for (let time = 0; time < 10; time++) {
      const { end } = await sandbox.run(script("return call('y')"), host, { signal, owner: "second" });
      expect(end).toEqual({ end: "returned", json: '"of the second"' });
    }
  });

  test("T13: never gets an answer that was sent while the earlier one ended", async () => {
    const answering = (value: string) => ({
      request: (_: unknown, __: number, answer: Answer) => answer({ ok: true, value }),
    });
    for (let time = 0; time < 20; time++) {
      const left = script("call('x'); call('x'); return 1");
      await sandbox.run(left, answering("of the first"), { signal, owner: "first" });
      const asking = script("return [await call('y'), await call('y')].join()");
      const { end } = await sandbox.run(asking, answering("mine"), { signal, owner: "second" });
      expect(end).toEqual({ end: "returned", json: '"mine,mine"' });
    }
  });
});

describe("a script after another in the same engine", () => {
  const PLANT = `
    const marks = [Object, Array, Function, String, Number, Boolean, Symbol, Promise, Map, Set, WeakMap, RegExp, Error, Date, Proxy, Reflect, JSON, Math, Uint8Array, ArrayBuffer, Iterator, BigInt];
    for (const place of marks) { try { place.planted = 1; } catch {} try { place.prototype.planted = 1; } catch {} }
    for (const made of [async () => {}, function* () {}, async function* () {}, [][Symbol.iterator](), new Map().entries(), new Problem0()]) {
      for (let at = made; at; at = Object.getPrototypeOf(at)) try { at.planted = 1; } catch {}
    }
    function Problem0() {}
    globalThis.planted = "planted"; globalThis.secret = Symbol.for("secret"); var leaked = 1;
    Array.prototype.map = () => "planted"; JSON.parse = JSON.stringify = () => '"planted"';
    Math.random = () => 0.5; Date.now = () => 5; Object.prototype.toString = () => "planted"; RegExp.prototype.exec = () => null;
    tools = call = get = ask = log = params = console = undefined; delete globalThis.sleep;
    Object.preventExtensions(Array.prototype);
    for (let left = 0; left < 5000; left++) void Promise.resolve().then(() => { globalThis.later = "planted"; });`;
  const PROBE = `
    const found = [], sealed = [];
    const seen = new Set();
    const walk = (value, path) => {
      if (value === null || (typeof value !== "object" && typeof value !== "function") || seen.has(value) || path.length > 8) return;
      seen.add(value);
      if (!Object.isExtensible(value)) sealed.push(path.join("."));
      for (const key of Reflect.ownKeys(value)) {
        if (String(key).includes("planted") || String(key) === "secret" || String(key) === "later" || String(key) === "leaked") found.push([...path, key].map(String).join("."));
        const own = Object.getOwnPropertyDescriptor(value, key);
        if (own.value === "planted") found.push([...path, key].map(String).join("."));
        for (const part of [own.value, own.get, own.set]) walk(part, [...path, String(key)]);
      }
      walk(Object.getPrototypeOf(value), [...path, "__proto__"]);
    };
    walk(globalThis, []);
    const wrong = [typeof tools, typeof call, typeof get, typeof ask, typeof log, typeof sleep, typeof console].filter((type) => type === "undefined");
    return { found, sealed, wrong, random: Math.random(), now: Date.now(), names: Reflect.ownKeys(globalThis).map(String).sort(), params, map: [1].map((x) => x + 1), text: String({}) };`;

  const fresh = createSandbox();
  afterAll(() => fresh.close());
  const firstProbe = createRunner(fresh).returned(PROBE, { params: '"mine"' });

  /** Runs the probe in every thread that is kept. */
  async function probe(): Promise<unknown[]> {
    const seen = await Promise.all(Array.from({ length: 6 }, () => returned(PROBE, { params: '"mine"' })));
    for (const one of seen)
      expect(one).toMatchObject({ found: [], wrong: [], now: 86_400_000, params: "mine" });
    return seen;
  }

  test.each([
    ["returned", `${PLANT} return 1`, {}],
    ["threw", `${PLANT} throw new Error("x")`, {}],
    ["did not compile", "const = planted", {}],
    ["waits for nothing", `${PLANT} await new Promise(() => {})`, {}],
    ["computed for too long", `${PLANT} for (;;) {}`, { computeMs: 100 }],
    [
      "left a call open",
      `globalThis.planted = 1; call("x").then((x) => { globalThis.planted = x; }); return 1`,
      {},
    ],
    [
      "took all memory",
      `${PLANT} const all = []; for (;;) all.push(new Array(1000).fill("planted"))`,
      { memoryBytes: 4 * 1024 * 1024, computeMs: 500 },
    ],
    [
      "took much memory",
      `globalThis.planted = "planted".repeat(3000000).split("").length; return 1`,
      { memoryBytes: 512 * 1024 * 1024 },
    ],
    ["went too deep", `${PLANT} const f = () => f(); f()`, {}],
  ] as [string, string, Partial<ScriptLimits>][])(
    "T13: finds the world as the first script found it, where the earlier one %s",
    async (_, code, limits) => {
      const first = await firstProbe;
      for (let time = 0; time < 4; time++) await run(code, { limits });
      for (const seen of await probe()) expect(seen).toEqual(first);
    },
  );

  test("finds no byte of an earlier script in its memory", async () => {
    const image = { buffer: new ArrayBuffer(4 * 64 * 1024) };
    const bytes = new Uint8Array(image.buffer);
    bytes.set([1, 2, 3], 70_000);
    const before = Uint8Array.from(bytes);
    const restore = takeMemoryImage(image);
    for (const at of [0, 65_535, 65_536, 70_001, 131_072, bytes.length - 1]) bytes[at] = 9;
    restore();
    expect(Buffer.compare(bytes, before)).toBe(0);
  });
});
