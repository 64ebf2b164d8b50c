import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import type { OpenStorage } from "../../src/base/util/storage.ts";
import { createIdempotency, type IdempotencyOptions } from "../../src/core/storage/idempotency.ts";
import { createMemoryStorage } from "../../src/core/storage/memory-storage.ts";
import { createResultStore } from "../../src/core/storage/result-store.ts";

const reader: Principal = { id: "reader", scopes: [], allowWrite: false };
const cashier: Principal = { id: "cashier", scopes: [], allowWrite: true };
const PAGE = "page ".repeat(10_000);

/** A till that reads pages and charges cards. `charges` counts what was really charged. */
function createTill() {
  const charges: string[] = [];
  const read = defineTool({
    name: "read_page",
    op: "till.page.read",
    description: "Read a page.",
    lane: "read",
    execute: () => "A short page.",
  });
  const charge = defineTool({
    name: "charge_card",
    op: "till.card.charge",
    description: "Charge a card.",
    lane: "write",
    inputSchema: { type: "object", properties: { card: { type: "string" } } },
    execute: ({ card }) => {
      charges.push(String(card));
      return { charged: card, receipt: card === "wordy" ? PAGE : "" };
    },
  });
  const domain = defineDomain({ name: "till", description: "A till.", tools: [read, charge] });
  const gateway = createGateway({ domains: [domain], principal: cashier });
  onTestFinished(() => gateway.close());
  const chargeOnce = (card: string, key: string, principal = cashier) =>
    gateway.exec({ op: "till.card.charge", args: { card }, idempotencyKey: key }, { principal });
  return { gateway, charges, chargeOnce };
}

test("T17: a reader that sends 10,001 keys does not make another's charge run twice", async () => {
  const { gateway, charges, chargeOnce } = createTill();
  await chargeOnce("visa", "k");
  for (let sent = 0; sent <= 10_000; sent += 1) {
    await gateway.exec({ op: "till.page.read", args: {}, idempotencyKey: `${sent}` }, { principal: reader });
  }
  expect(await chargeOnce("visa", "k")).toMatchObject({ ok: true, result: { charged: "visa" } });
  expect(charges).toEqual(["visa"]);
});

test("T17: a caller without room for a key is refused before its call runs, and keeps its older keys", async () => {
  const { charges, chargeOnce } = createTill();
  await chargeOnce("first", "k");
  for (let sent = 1; sent < 10_000; sent += 1) await chargeOnce(`${sent}`, `${sent}`);
  const refused = await chargeOnce("late", "late");
  expect(refused).toMatchObject({ ok: false, error: { code: "KEYS_EXHAUSTED" } });
  expect(refused.text).toContain("till.card.charge did not run");
  expect(charges).toHaveLength(10_000);
  expect(await chargeOnce("first", "k")).toMatchObject({ ok: true, result: { charged: "first" } });
  expect(charges).toHaveLength(10_000);
  expect(await chargeOnce("late", "late", { ...cashier, id: "other" })).toMatchObject({ ok: true });
});

test("T17: a large answer is kept once, by the handle that the caller was given", async () => {
  const { charges, chargeOnce } = createTill();
  const first = await chargeOnce("wordy", "k");
  const again = await chargeOnce("wordy", "k");
  expect(charges).toEqual(["wordy"]);
  expect(first.ok && first.meta.stored?.handle).toMatch(/^result:/);
  expect(again.ok && again.meta.stored).toEqual(first.ok && first.meta.stored);
});

test("T17: keys on 10,000 answers of 1 MB keep few bytes, and none of the calls runs again", async () => {
  let size = () => 0;
  const idempotency = createIdempotency(createResultStore(), {
    open: (_, options) => {
      const storage = createMemoryStorage(options);
      size = () => storage.size;
      return storage;
    },
  });
  const megabyte = Array.from({ length: 10 }, () => "x".repeat(100_000));
  let runs = 0;
  const send = (key: number) =>
    idempotency.once(
      { ...callOf("mallory"), key: `${key}`, name: "a.b", hash: "h" },
      async () => {
        runs += 1;
        return { value: [...megabyte] };
      },
      () => false,
    );
  for (let key = 0; key < 10_000; key += 1) await send(key);
  expect(size()).toBeGreaterThan(10_000 * 512);
  expect(size()).toBeLessThan(32 * 1024 * 1024);
  await expect(send(0)).rejects.toMatchObject({ code: "CONFLICT", message: /no longer kept/ });
  expect(await send(9_999)).toEqual({ value: megabyte });
  expect(runs).toBe(10_000);
});

function keysOf(options: IdempotencyOptions) {
  const idempotency = createIdempotency(createResultStore(), options);
  const runs: string[] = [];
  return {
    runs,
    send: (principalId: string, key: string, answer: () => string = () => key) =>
      idempotency.once(
        { ...callOf(principalId), key, name: "a.b", hash: "h" },
        async () => {
          runs.push(key);
          return { value: answer() };
        },
        () => false,
      ),
  };
}

test("T17: nine callers that send all the keys they can leave room for a newcomer", async () => {
  const { send, runs } = keysOf({
    all: { entries: 100, size: 1e9 },
    perPrincipal: { entries: 80, size: 1e9 },
  });
  for (let principal = 0; principal < 9; principal += 1) {
    for (let key = 0; key < 100; key += 1) await send(`m${principal}`, `${principal}-${key}`).catch(() => {});
  }
  expect(runs.length).toBeLessThan(100);
  await expect(send("newcomer", "n")).resolves.toEqual({ value: "n" });
});

test("T17: a key makes room for another when its time is over", async () => {
  let time = 0;
  const one = { entries: 1, size: 1e9 };
  const open: OpenStorage = (_, options) => createMemoryStorage(options, () => time);
  const { send } = keysOf({ all: { entries: 10, size: 1e9 }, perPrincipal: one, open });
  await send("ann", "first");
  await expect(send("ann", "second")).rejects.toMatchObject({ code: "KEYS_EXHAUSTED" });
  time = 24 * 60 * 60_000;
  await expect(send("ann", "second")).resolves.toEqual({ value: "second" });
});

test("T17: a failure with very large details is not kept whole, and does not run again", async () => {
  const { send, runs } = keysOf({});
  const fail = () => {
    throw new RangeError("x".repeat(1_000_000));
  };
  await expect(send("ann", "k", fail)).rejects.toThrow(RangeError);
  await expect(send("ann", "k", fail)).rejects.toMatchObject({ code: "CONFLICT" });
  expect(runs).toEqual(["k"]);
});

function callOf(id: string) {
  return {
    view: { principal: { id, scopes: [], allowWrite: true }, version: "1", find: () => ({}) },
    entry: { route: "a://b", scopes: [] },
  };
}
