import { expect, test } from "vitest";
import { allowed, recordsOf, verifyAll } from "../../../test/audit-kit.ts";
import type { OpenStorage, Storage } from "../../base/util/storage.ts";
import { openMemoryStorage } from "../storage/memory-storage.ts";
import { AuditLog } from "./audit-log.ts";
import { StorageChains } from "./storage-chains.ts";

/** One memory that several gateways share. */
function sharedMemory(): OpenStorage {
  const kinds = new Map<string, Storage<never>>();
  return (kind, options) => {
    const storage = kinds.get(kind) ?? (openMemoryStorage(kind, options) as unknown as Storage<never>);
    kinds.set(kind, storage);
    return storage as never;
  };
}

function gateway(open: OpenStorage, id: string, limits?: { partRecords: number; maxParts: number }) {
  return new AuditLog(new StorageChains(open, { id, isRunning: async () => false }, limits));
}

const namesIn = async (log: AuditLog) =>
  (await recordsOf(await log.chains())).flatMap((record) => ("name" in record ? [record.name] : []));
const badIn = async (log: AuditLog) => (await verifyAll(await log.chains())).flatMap(({ bad }) => bad ?? []);

test("T20: a chain in a storage keeps its newest parts, and says from where on", async () => {
  const log = gateway(sharedMemory(), "one", { partRecords: 10, maxParts: 3 });
  for (let number = 0; number < 100; number += 1) {
    log.add(allowed(`${number}`));
    await log.flush();
  }
  expect(await badIn(log)).toEqual([]);
  const names = await namesIn(log);
  expect(names.at(-1)).toBe("99");
  expect(names.length).toBeLessThanOrEqual(30);
  const [chain] = await log.chains();
  const [first] = await Array.fromAsync(chain!.lines());
  expect(JSON.parse(first!.text)).toMatchObject({ kind: "log-opened" });
  expect(JSON.parse(first!.text).keptFrom).toBeLessThanOrEqual(JSON.parse(first!.text).seq);
});

test("T20: a gateway that ended between its lines and their head loses none of them", async () => {
  const open = sharedMemory();
  const log = gateway(open, "one");
  log.add(allowed("a"));
  await log.flush();
  const chains = new StorageChains(open, { id: "", isRunning: async () => false }).chain;
  const before = (await chains.get("1", ""))!;
  log.add(allowed("b"));
  await log.close();
  await chains.update("1", "", () => before);
  const next = gateway(open, "two");
  next.add(allowed("c"));
  await next.close();
  expect(await namesIn(next)).toEqual(["a", "b", "c"]);
  expect(await badIn(next)).toEqual([]);
});

test("T20: gateways that take each other for ended mix no chain and lose nothing", async () => {
  const open = sharedMemory();
  const logs = ["one", "two", "three"].map((id) => gateway(open, id));
  await Promise.all(
    logs.map(async (log, at) => {
      for (let number = 0; number < 30; number += 1) {
        log.add(allowed(`${at}-${number}`));
        await log.flush();
      }
    }),
  );
  for (const log of logs) await log.close();
  expect(await badIn(logs[0]!)).toEqual([]);
  const expected = logs.flatMap((_, at) => Array.from({ length: 30 }, (__, number) => `${at}-${number}`));
  expect(new Set(await namesIn(logs[0]!))).toEqual(new Set(expected));
});
