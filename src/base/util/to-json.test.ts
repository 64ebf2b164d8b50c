import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toJson } from "./to-json.ts";

describe("toJson", () => {
  test("keeps the meaning of values that JSON lacks", () => {
    const value = {
      at: new Date("2026-01-31T09:00:00Z"),
      big: 12345678901234567890n,
      map: new Map<unknown, unknown>([
        ["a", 1],
        [2, new Set(["x"])],
      ]),
      error: new TypeError("broken"),
      url: new URL("https://example.com/a"),
      boxed: Object(5),
      zero: -0,
      left: undefined,
      out: () => 1,
      list: [undefined, () => 1, Symbol("s")],
    };
    expect(toJson(value)).toEqual({
      ok: true,
      value: {
        at: "2026-01-31T09:00:00.000Z",
        big: "12345678901234567890",
        map: { a: 1, 2: ["x"] },
        error: { name: "TypeError", message: "broken" },
        url: "https://example.com/a",
        boxed: 5,
        zero: 0,
        list: [null, null, null],
      },
      warnings: [],
    });
  });

  test("warns where something is lost", () => {
    expect(toJson(undefined)).toEqual({ ok: true, value: null, warnings: ["the tool returned nothing"] });
    expect(toJson({ rows: [{ price: Number.NaN }], bytes: Buffer.from("hi") })).toEqual({
      ok: true,
      value: { rows: [{ price: null }], bytes: "aGk=" },
      warnings: ["NaN at rows.0.price became null", "bytes at bytes became base64 text"],
    });
    const many = toJson(new Array(1000).fill(Number.POSITIVE_INFINITY));
    expect(many.ok && many.warnings).toHaveLength(11);
    const pairs = toJson(new Map([[{ id: 1 }, "a"]]));
    expect(pairs).toMatchObject({ value: [[{ id: 1 }, "a"]], warnings: ["a Map became a list of pairs"] });
  });

  test("copies only the bytes that a view shows", () => {
    const view = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    expect(toJson(view)).toMatchObject({ value: Buffer.from([2, 3]).toString("base64") });
  });

  test("refuses cycles, depth, and endless sharing", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = { back: [cycle] };
    expect(toJson(cycle)).toEqual({ ok: false, reason: "it contains itself at self.back.0" });
    let deep: unknown = 1;
    for (let level = 0; level < 65; level += 1) deep = [deep];
    expect(toJson(deep)).toEqual({ ok: false, reason: "it is nested deeper than 64 levels" });
    expect(toJson((deep as unknown[])[0])).toMatchObject({ ok: true });
    let laughs: unknown = "ha";
    for (let level = 0; level < 50; level += 1) laughs = { a: laughs, b: laughs };
    expect(toJson(laughs)).toEqual({ ok: false, reason: "it has millions of values" });
    expect(toJson(new Array(4_000_000_000))).toMatchObject({ ok: false });
  });

  test("allows the same object twice", () => {
    const shared = { a: 1 };
    expect(toJson([shared, shared])).toMatchObject({ value: [{ a: 1 }, { a: 1 }] });
  });

  test("never throws", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const getter = {
      get x(): unknown {
        throw new TypeError("no");
      },
    };
    expect(toJson(proxy)).toMatchObject({ ok: false });
    expect(toJson(getter)).toEqual({ ok: false, reason: "reading it threw: no" });
    expect(toJson({ toJSON: () => BigInt("x") })).toMatchObject({ ok: false });
    const unreadable = new Proxy({}, { ownKeys: () => Reflect.ownKeys(null as unknown as object) });
    expect(toJson(unreadable)).toMatchObject({ ok: false });
    const endless: object = new Proxy(
      {},
      { get: () => endless, ownKeys: () => ["a"], getOwnPropertyDescriptor },
    );
    expect(toJson(endless)).toMatchObject({ ok: false });
  });

  test("keeps __proto__ as data", () => {
    const outcome = toJson(JSON.parse('{"__proto__":{"admin":true},"constructor":1}'));
    expect(outcome.ok && JSON.stringify(outcome.value)).toBe('{"__proto__":{"admin":true},"constructor":1}');
    expect((outcome.ok && (outcome.value as { admin?: unknown }).admin) || "none").toBe("none");
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  test("converts a million rows quickly", () => {
    const rows = Array.from({ length: 1_000_000 }, (_, id) => ({ id, name: "row", ok: true }));
    expect(toJson(rows).ok).toBe(true);
  });

  test("the result survives being written and read", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withBoxedValues: true,
      key: fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toJSON", "toString")),
    });
    fc.assert(
      fc.property(anything, (value) => {
        const outcome = toJson(value);
        if (!outcome.ok) return;
        const read: unknown = JSON.parse(JSON.stringify(outcome.value));
        expect(isDeepStrictEqual(read, outcome.value)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("leaves plain JSON as it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const expected = JSON.parse(JSON.stringify(value));
        expect(isDeepStrictEqual(toJson(value), { ok: true, value: expected, warnings: [] })).toBe(true);
      }),
    );
  });
});

function getOwnPropertyDescriptor(): PropertyDescriptor {
  return { enumerable: true, configurable: true, value: 1 };
}
