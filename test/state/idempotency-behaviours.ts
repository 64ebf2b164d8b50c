import { problem } from "keyhole";
import { expect, test } from "vitest";
import type { Idempotency } from "../../src/core/storage/idempotency.ts";
import { verifies } from "../claims.ts";
import type { StateKind } from "./open-state.ts";

const call = (key: string, hash = "h", principalId = "ann") => ({
  view: { principal: { id: principalId, scopes: [], allowWrite: true }, version: "1", find: () => ({}) },
  entry: { route: "till://charge", scopes: [] },
  key,
  name: "till.charge",
  hash,
});
const ran = () => false;

/** A tool that counts how often it was run. */
function createTill() {
  const charges: string[] = [];
  const charge = (card: string) => async () => {
    charges.push(card);
    return { value: { charged: card, number: charges.length }, warnings: ["w"] };
  };
  return { charges, charge };
}

/** The behaviours of everything that runs keyed calls once. */
export function describeIdempotency({ create }: StateKind): void {
  verifies("exec:idempotency", "the same key runs a call once and gives its first answer", async () => {
    const { idempotency } = await (await create()).open();
    const { charges, charge } = createTill();
    const first = await idempotency.once(call("k"), charge("visa"), ran);
    expect(await idempotency.once(call("k"), charge("visa"), ran)).toEqual(first);
    const many = Array.from({ length: 20 }, () => idempotency.once(call("l"), charge("many"), ran));
    expect(new Set((await Promise.all(many)).map((one) => JSON.stringify(one))).size).toBe(1);
    expect(charges).toEqual(["visa", "many"]);
    await idempotency.once(call("k", "h", "bob"), charge("bob's"), ran);
    await idempotency.once(call("k", "h", "ann\0"), charge("odd"), ran);
    expect(charges).toEqual(["visa", "many", "bob's", "odd"]);
  });

  verifies("exec:idempotency", "a key with other args is a conflict, also while the call runs", async () => {
    const { idempotency } = await (await create()).open();
    const { charges, charge } = createTill();
    const { promise, resolve } = Promise.withResolvers<{ value: string }>();
    const slow = idempotency.once(call("k"), () => promise, ran);
    await expect(idempotency.once(call("k", "other"), charge("no"), ran)).rejects.toMatchObject({
      code: "CONFLICT",
    });
    resolve({ value: "slow" });
    expect(await slow).toEqual({ value: "slow" });
    await expect(idempotency.once(call("k", "other"), charge("no"), ran)).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(charges).toEqual([]);
  });

  verifies("exec:idempotency", "a failure is kept, since it may have had an effect", async () => {
    const { idempotency } = await (await create()).open();
    let runs = 0;
    const failing = (error: Error) => async () => {
      runs += 1;
      throw error;
    };
    const conflict = problem("CONFLICT", { reason: "It was changed meanwhile." }, { at: 3 });
    for (let time = 0; time < 2; time += 1) {
      await expect(idempotency.once(call("p"), failing(conflict), ran)).rejects.toMatchObject({
        code: "CONFLICT",
        message: "It was changed meanwhile.",
        details: { at: 3 },
      });
      await expect(idempotency.once(call("e"), failing(new Error("broke")), ran)).rejects.toThrow("broke");
    }
    expect(runs).toBe(2);
  });

  test("a call that was refused before it ran may run later", async () => {
    const { idempotency } = await (await create()).open();
    const { charges, charge } = createTill();
    const refuse = async () => {
      throw problem("APPROVAL_REQUIRED", { name: "till.charge", because: "" });
    };
    await expect(idempotency.once(call("k"), refuse, () => true)).rejects.toMatchObject({
      code: "APPROVAL_REQUIRED",
    });
    expect(await idempotency.once(call("k"), async () => undefined, ran)).toBeUndefined();
    await idempotency.once(call("k"), charge("visa"), ran);
    expect(charges).toEqual(["visa"]);
  });

  test("a large answer is given again", async () => {
    const { idempotency } = await (await create()).open();
    const value = { page: "word ".repeat(20_000) };
    let runs = 0;
    const run = async () => {
      runs += 1;
      return { value, dryRun: false };
    };
    await idempotency.once(call("k"), run, ran);
    expect(await idempotency.once(call("k"), run, ran)).toEqual({ value, dryRun: false });
    expect(runs).toBe(1);
  });

  test("T17: a caller without room for a key is refused before its call runs, and keeps its older keys", async () => {
    const bounds = { all: { entries: 1_000, size: 1e9 }, perPrincipal: { entries: 20, size: 1e9 } };
    const { idempotency } = await (await create()).open({ idempotency: bounds });
    const { charges, charge } = createTill();
    for (let key = 0; key < 20; key += 1) await idempotency.once(call(`${key}`), charge(`${key}`), ran);
    await expect(idempotency.once(call("late"), charge("late"), ran)).rejects.toMatchObject({
      code: "KEYS_EXHAUSTED",
    });
    await idempotency.once(call("0"), charge("again"), ran);
    await idempotency.once(call("late", "h", "bob"), charge("bob's"), ran);
    expect(charges).toHaveLength(21);
    expect(charges.at(-1)).toBe("bob's");
  });
}

/** The behaviours of idempotency over several gateways. */
export function describeSharedIdempotency({ create }: StateKind): void {
  verifies("exec:idempotency", "gateways that get the same key at the same time run it once", async () => {
    const state = await create();
    const gateways = await Promise.all(Array.from({ length: 3 }, () => state.open()));
    const { charges, charge } = createTill();
    const keys = Array.from({ length: 20 }, (_, key) => `${key}`);
    const answers = await Promise.all(
      keys.map((key) =>
        Promise.all(gateways.map(({ idempotency }) => idempotency.once(call(key), charge(key), ran))),
      ),
    );
    for (const [first, ...others] of answers) for (const other of others) expect(other).toEqual(first);
    expect(charges.toSorted()).toEqual(keys.toSorted());
    await expect(gateways[1]!.idempotency.once(call("3", "other"), charge("no"), ran)).rejects.toMatchObject({
      code: "CONFLICT",
    });
  });

  test("a gateway waits while another runs the call, and passes its failure on", async () => {
    const state = await create();
    const [one, other] = [await state.open(), await state.open()];
    const { promise, reject } = Promise.withResolvers<{ value: string }>();
    const first = begin(one.idempotency, () => promise);
    await first.begun;
    const second = other.idempotency.once(call("k"), async () => ({ value: "doubled" }), ran);
    reject(problem("TIMEOUT", { name: "till.charge", ms: 5 }));
    await expect(first.answer).rejects.toMatchObject({ code: "TIMEOUT" });
    await expect(second).rejects.toMatchObject({
      code: "TIMEOUT",
      message: "till.charge did not answer within 5 ms.",
    });
  });

  verifies(
    "exec:idempotency",
    "the call of a gateway that ended has an unknown outcome and never runs again",
    async () => {
      const state = await create();
      const [dying, other] = [await state.open(), await state.open()];
      const { promise, resolve } = Promise.withResolvers<{ value: string }>();
      const first = begin(dying.idempotency, () => promise);
      await first.begun;
      const waiting = other.idempotency.once(call("k"), async () => ({ value: "doubled" }), ran);
      await dying.close();
      await expect(waiting).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
      const again = () => other.idempotency.once(call("k"), async () => ({ value: "doubled" }), ran);
      await expect(again()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
      // It was only slow: its late answer is the truth.
      resolve({ value: "late" });
      await first.answer;
      expect(await again()).toEqual({ value: "late" });
    },
  );
}

/** Starts a call and tells when it runs. */
function begin(idempotency: Idempotency, run: () => Promise<{ value: string }>) {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const answer = idempotency.once(
    call("k"),
    () => {
      resolve();
      return run();
    },
    ran,
  );
  // Awaited by the test later.
  answer.catch(() => {});
  return { begun, answer };
}
