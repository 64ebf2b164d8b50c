import { expect, test } from "vitest";
import type { Json } from "../../src/base/util/json.ts";
import { mintResultHandle } from "../../src/core/storage/result-store.ts";
import { verifies } from "../claims.ts";
import type { OpenState, StateKind } from "./open-state.ts";
import { refusalOf } from "./refusal-of.ts";

async function put(
  { results }: Pick<OpenState, "results">,
  value: Json,
  principalId: string,
): Promise<string> {
  const handle = mintResultHandle();
  await results.put(handle, value, principalId);
  return handle;
}

async function keptOf(
  { results }: OpenState,
  handles: readonly string[],
  principalId: string,
): Promise<string[]> {
  const kept = await Promise.all(handles.map((handle) => results.has(handle, principalId)));
  return handles.filter((_, at) => kept[at]);
}

/** The behaviours of every store of results. */
export function describeResults({ create }: StateKind): void {
  test("a result is read as it was stored", async () => {
    const state = await (await create()).open();
    const odd = JSON.parse(
      '{"__proto__": 1, "b": [null, true, -0.5e-7], "a": "\\u0000 \\ud800 \\ue000 é 😀", "": {}}',
    );
    for (const value of [odd, "", 0, null, false, [], "text\0", Number.MAX_SAFE_INTEGER] as Json[]) {
      expect(JSON.stringify(await state.results.get(await put(state, value, "ann"), "ann"))).toBe(
        JSON.stringify(value),
      );
    }
  });

  verifies("handles:bound", "foreign, made-up and odd handles of results are refused alike", async () => {
    const state = await (await create()).open();
    const handle = await put(state, ["ann's"], "ann");
    const { results } = state;
    const refusals = [
      await refusalOf(results.get(handle, "bob"), handle),
      await refusalOf(results.get(handle, "ann\0"), handle),
      await refusalOf(results.get("result://../../etc/passwd", "ann"), "result://../../etc/passwd"),
      await refusalOf(results.get("result://\0", "ann"), "result://\\u0000"),
    ];
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toContain("UNKNOWN_HANDLE");
    expect(await results.has(handle, "bob")).toBe(false);
  });

  test("T17: a principal that stores many results pushes out only its own, the oldest first", async () => {
    const state = await (await create()).open();
    const bobs = await put(state, ["bob's"], "bob");
    const own: string[] = [];
    for (let number = 0; number < 700; number += 1) own.push(await put(state, [number], "mallory"));
    expect(await state.results.get(bobs, "bob")).toEqual(["bob's"]);
    expect(await state.results.get(own.at(-1)!, "mallory")).toEqual([699]);
    expect((await keptOf(state, own, "mallory")).length).toBeLessThanOrEqual(500);
    expect(await state.results.has(own[0]!, "mallory")).toBe(false);
  });

  test("T17: a principal that stores large results pushes out only its own", async () => {
    const size = 50_000;
    const bounds = {
      all: { entries: 1_000, size: 40 * size },
      perPrincipal: { entries: 500, size: 20 * size },
    };
    const state = await (await create()).open({ results: bounds });
    const bobs = await put(state, ["bob's"], "bob");
    const own: string[] = [];
    for (let number = 0; number < 60; number += 1) own.push(await put(state, "x".repeat(size), "mallory"));
    expect(await state.results.get(bobs, "bob")).toEqual(["bob's"]);
    const kept = await keptOf(state, own, "mallory");
    expect(kept).toContain(own.at(-1));
  });
}

export function describeSharedResults({ create }: StateKind): void {
  verifies(
    "results:nothing-lost",
    "a result of one gateway is read on the others, by its principal only",
    async () => {
      const state = await create();
      const [one, other] = [await state.open(), await state.open()];
      const handle = await put(one, { rows: [1, 2] }, "ann");
      await one.close();
      expect(await other.results.get(handle, "ann")).toEqual({ rows: [1, 2] });
      expect(await other.results.has(handle, "bob")).toBe(false);
    },
  );

  test("T17: large results are bounded in bytes for each principal and for all", async () => {
    const size = 50_000;
    const bounds = {
      all: { entries: 1_000, size: 25 * size },
      perPrincipal: { entries: 500, size: 10 * size },
    };
    const state = await (await create()).open({ results: bounds });
    const bobs = await put(state, ["bob's"], "bob");
    const handles = new Map<string, string[]>();
    for (const who of ["mallory", "trudy", "eve", "oscar"]) {
      const own: string[] = [];
      for (let number = 0; number < 40; number += 1) own.push(await put(state, "x".repeat(size), who));
      expect((await keptOf(state, own, who)).length).toBeLessThanOrEqual(10);
      handles.set(who, own);
    }
    const kept = await Promise.all([...handles].map(([who, own]) => keptOf(state, own, who)));
    expect(kept.flat().length).toBeLessThanOrEqual(40);
    expect(await state.results.get(bobs, "bob")).toEqual(["bob's"]);
  });

  test("texts that look like secrets are not written", async () => {
    const state = await (await create()).open();
    const token = "sk-abcdefghijklmnopqrstuvwxyz123456";
    expect(JSON.stringify(await state.results.get(await put(state, { token }, "ann"), "ann"))).not.toContain(
      token,
    );
  });
}
