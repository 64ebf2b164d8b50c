import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CallOptions,
  createFileAuditStore,
  createGateway,
  defineDomain,
  defineTool,
  type Gateway,
  type KeyholeEvent,
  onEvent,
} from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import type { AuditRecord, AuditStore } from "../../src/core/audit/audit-store.ts";
import { allBytes, createMemoryAuditStore, recordsOf, verifyAll } from "../audit-kit.ts";
import { PLANTED } from "../planted-secrets.ts";
import { clerk, createShop, reader } from "../shop.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { chaos, gatewayOf } from "../upstream-kit.ts";

interface Audited {
  readonly gateway: Gateway;
  /** The records so far, without those about the log itself. */
  records(): Promise<AuditRecord[]>;
}

function openShop(options: Partial<Parameters<typeof createGateway>[0]> = {}): Audited {
  const store = options.audit?.store ?? createMemoryAuditStore();
  const gateway = createGateway({
    domains: createShop().domains,
    principal: clerk,
    audit: { store },
    ...options,
  });
  onTestFinished(() => gateway.close());
  return {
    gateway,
    records: async () => {
      await store.flush();
      return (await recordsOf(await store.chains())).filter(({ kind }) => kind !== "log-opened");
    },
  };
}

const ORDER = { op: "shop.order.create", args: { customer: "c-1" } };

test("T20: a call has a record before it runs and one after it, tied to its answer and to its definition", async () => {
  let atRun: readonly string[] = [];
  const store = createMemoryAuditStore();
  const note = defineTool({
    name: "add_note",
    description: "Add a note.",
    lane: "write",
    inputSchema: { type: "object", properties: { text: { type: "string" }, tags: { type: "array" } } },
    execute: async () => {
      atRun = (await recordsOf(await store.chains())).map(({ kind }) => kind);
      return { id: 1, at: "now" };
    },
  });
  const { gateway, records } = openShop({
    domains: [defineDomain({ name: "notes", description: "Notes.", tools: [note] })],
    audit: { store },
  });
  const answer = await gateway.exec({
    op: "notes.note.add",
    args: { text: "hello", tags: ["a", "b"] },
  });
  expect(answer.ok).toBe(true);
  expect(atRun).toEqual(["call-started"]);
  const [started, ended] = await records();
  expect(started).toMatchObject({
    kind: "call-started",
    principal: "clerk",
    op: "notes.note.add",
    route: "notes://tools/note/add",
    entryKind: "tool",
    lane: "write",
    decided: "run",
    definition: expect.stringMatching(/^[0-9a-f]{64}$/),
    args: { text: "string(5)", tags: "array(2)" },
    traceId: (answer as { meta?: { traceId?: string } }).meta?.traceId ?? expect.stringMatching(/^tr_/),
    at: expect.stringMatching(/^\d{4}-.+Z$/),
  });
  expect(ended).toMatchObject({ kind: "call-ended", outcome: "ok", result: "object(2)", principal: "clerk" });
  expect((ended as { call: string }).call).toBe((started as { call: string }).call);
});

test("T20: how a call was decided is recorded: run, dry, approved and by whom, asked, refused, repeated", async () => {
  const { gateway, records } = openShop();
  const by = (answer: Awaited<ReturnType<NonNullable<CallOptions["approve"]>>>): CallOptions => ({
    approve: () => answer,
  });
  const refund = { op: "shop.refund.send", args: { customer: "c-1", cents: 5 } };
  await gateway.exec({ op: "shop.order.list", args: {} });
  await gateway.exec({ op: "shop.order.delete", args: { id: 1 } });
  await gateway.exec(refund, by({ by: "ann@example.com" }));
  await gateway.exec(refund, by(true));
  await gateway.exec(refund, by("declined"));
  await gateway.exec(refund, by(false));
  await gateway.exec(ORDER, { principal: reader });
  await gateway.exec({ op: "shop.order.create", args: { customer: 7 } });
  await gateway.exec({ ...ORDER, idempotencyKey: "k" });
  await gateway.exec({ ...ORDER, idempotencyKey: "k" });
  await gateway.get({ routes: ["shop.order.create"] });
  const shown = (await records()).map((record) => {
    const { kind, decided, approvedBy, outcome } = record as unknown as Record<string, string>;
    return [kind, decided, approvedBy, outcome].filter(Boolean).join(" ");
  });
  expect(shown).toEqual([
    "call-started run",
    "call-ended ok",
    "call-started dry-run",
    "call-ended ok",
    "call-started approved ann@example.com",
    "call-ended ok",
    "call-started approved application",
    "call-ended ok",
    "call-refused asked APPROVAL_DECLINED",
    "call-refused asked APPROVAL_REQUIRED",
    "call-refused refused PERMISSION_DENIED",
    "call-refused refused INVALID_PARAMS",
    "call-started run",
    "call-ended ok",
    "call-repeated",
    "call-refused refused ACCESS_DENIED",
  ]);
});

test("T20: a call that fails or is cancelled ends in the log with its code", async () => {
  const tools = [
    defineTool({
      name: "get_nothing",
      description: "Fail.",
      execute: () => {
        throw new Error("no");
      },
    }),
    defineTool({ name: "get_late", description: "Hang.", execute: () => new Promise(() => {}) }),
  ];
  const domains = [defineDomain({ name: "bad", description: "Bad.", tools })];
  const { gateway, records } = openShop({ domains });
  await gateway.exec({ op: "bad.nothing.get", args: {} });
  const leave = new AbortController();
  const late = gateway.exec({ op: "bad.late.get", args: {} }, { signal: leave.signal });
  setImmediate(() => leave.abort());
  await late;
  const ended = (await records()).filter(({ kind }) => kind === "call-ended");
  expect(ended).toMatchObject([{ outcome: "INTERNAL" }, { outcome: "CANCELLED" }]);
});

test("T20: no value of arguments or results is in the log, wherever a secret is put", async () => {
  const path = temporaryFolder();
  const secrets = Object.values(PLANTED).map(({ secret }) => secret);
  const store = createFileAuditStore({ path });
  const echo = defineTool({
    name: "get_echo",
    description: "Echo.",
    inputSchema: { type: "object", properties: { text: {}, nested: { type: "object" } } },
    execute: (params) => ({ ...params, ...Object.fromEntries(secrets.map((secret) => [secret, secret])) }),
  });
  const fail = defineTool({
    name: "get_failure",
    description: "Fail.",
    inputSchema: { type: "object" },
    execute: () => {
      throw new Error(secrets.join(" "));
    },
  });
  const domains = [defineDomain({ name: "echo", description: "Echo.", tools: [echo, fail] })];
  const { gateway, records } = openShop({ domains, audit: { store } });
  for (const secret of secrets) {
    const args = { text: secret, nested: { [secret]: [secret] }, [secret]: secret };
    await gateway.exec({ op: "echo.echo.get", args });
    await gateway.exec({ op: "echo.failure.get", args });
    await gateway.exec({ op: `echo.${secret}`, args });
  }
  expect(await records()).toHaveLength(4 * secrets.length);
  await store.close();
  const log = allBytes(path);
  expect(secrets.length).toBeGreaterThan(30);
  expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
});

test("T20: fifty calls at the same time leave one intact chain with a start and an end of each", async () => {
  const path = temporaryFolder();
  const store = createFileAuditStore({ path });
  const { gateway, records } = openShop({ audit: { store } });
  await Promise.all(Array.from({ length: 50 }, () => gateway.exec(ORDER)));
  await store.flush();
  const all = (await records()) as unknown as { kind: string; call: string }[];
  const calls = (kind: string) => all.filter((one) => one.kind === kind).map(({ call }) => call);
  expect(new Set(calls("call-started")).size).toBe(50);
  expect(calls("call-ended").toSorted()).toEqual(calls("call-started").toSorted());
  expect((await verifyAll(await store.chains())).map(({ bad }) => bad)).toEqual([undefined]);
  await store.close();
});

test("T20: every operation that runs an entry is recorded, and finding or describing one is not", async () => {
  const { gateway, records } = openShop();
  await gateway.ask({ query: "orders" });
  await gateway.help({ path: "shop.order.list" });
  expect(await records()).toEqual([]);
  await gateway.get({ routes: ["shop.order.list"] });
  await gateway.batch({ requests: [{ exec: { op: "shop.order.list", args: {} } }, { exec: ORDER }] });
  const started = (await records()).filter(({ kind }) => kind === "call-started");
  expect(started).toMatchObject([
    { op: "shop.order.list" },
    { op: "shop.order.list" },
    { op: "shop.order.create" },
  ]);
});

test("T20: a log that fails closed refuses writes while it cannot be written, and nothing runs", async () => {
  const path = join(temporaryFolder(), "audit");
  writeFileSync(path, "in the way");
  const store = createFileAuditStore({ path });
  const { domains, calls } = createShop();
  const { gateway } = openShop({ domains, audit: { store, failClosed: true } });
  const keyed = { ...ORDER, idempotencyKey: "k" };
  expect(await gateway.exec(keyed)).toMatchObject({ ok: false, error: { code: "AUDIT_FAILED" } });
  expect(calls.made).toEqual([]);
  expect(await gateway.exec({ op: "shop.order.list", args: {} })).toMatchObject({ ok: true });
  expect(await gateway.exec({ op: "shop.order.delete", args: { id: 1 } })).toMatchObject({ ok: true });
  rmSync(path);
  mkdirSync(path);
  expect(await gateway.exec(keyed)).toMatchObject({ ok: true });
  expect(calls.made).toHaveLength(1);
  await store.close();
});

test("T20: otherwise calls run while the log cannot be written, a notice tells it, and the records follow", async () => {
  const path = join(temporaryFolder(), "audit");
  writeFileSync(path, "in the way");
  const store = createFileAuditStore({ path });
  const { gateway, records } = openShop({ audit: { store } });
  const heard: KeyholeEvent[] = [];
  onTestFinished(onEvent((event) => void heard.push(event)));
  const notices = () => heard.filter((event) => event.type === "notice" && event.notice === "audit-failed");
  expect(await gateway.exec(ORDER)).toMatchObject({ ok: true });
  expect(await gateway.exec(ORDER)).toMatchObject({ ok: true });
  expect(notices()).toHaveLength(1);
  rmSync(path);
  expect(await gateway.exec(ORDER)).toMatchObject({ ok: true });
  await store.flush();
  const kinds = (await records()).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "call-started")).toHaveLength(3);
  expect(kinds.filter((kind) => kind === "call-ended")).toHaveLength(3);
  await store.close();
});

test("T20: a store that fails in its own way refuses writes too when the log fails closed", async () => {
  const store: AuditStore = {
    ...createMemoryAuditStore(),
    flush: async () => {
      throw new Error("connection lost");
    },
  };
  const { domains, calls } = createShop();
  const { gateway } = openShop({ domains, audit: { store, failClosed: true } });
  const answer = await gateway.exec(ORDER);
  expect(answer).toMatchObject({ ok: false, error: { code: "AUDIT_FAILED" } });
  expect(answer.text).toContain("connection lost");
  expect(calls.made).toEqual([]);
});

test("T20: definitions that are approved and revoked are recorded with their hashes", async () => {
  const store = createMemoryAuditStore();
  const gateway = gatewayOf([chaos("bad", { trusted: false })], {
    principal: { id: "owner", scopes: [], allowWrite: false },
    audit: { store },
  });
  onTestFinished(() => gateway.close());
  await gateway.ready();
  const { hash } = gateway.pins.list().find(({ route }) => route === "bad://tools/add")!;
  for (let twice = 0; twice < 2; twice += 1) await gateway.pins.approve({ route: "bad://tools/add" });
  await gateway.exec({ op: "bad.add", args: { a: 1 } });
  await gateway.pins.revoke({ source: "bad" });
  const about = { principal: "owner", what: "definition", name: "bad://tools/add", digest: hash };
  expect(await recordsOf(await store.chains())).toMatchObject([
    { kind: "allowed", ...about },
    { kind: "call-refused", outcome: "PERMISSION_DENIED", definition: hash },
    { kind: "revoked", ...about },
  ]);
});
