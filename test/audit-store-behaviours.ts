import { describe, expect, test } from "vitest";
import type { AuditStore } from "../src/core/audit/audit-store.ts";
import { allowed, recordsOf, verifyAll } from "./audit-kit.ts";

/** The promises of every {@link AuditStore}. `open` opens the same empty log each time within one test. */
export function describeAuditStore(
  name: string,
  prepare: () => () => AuditStore | Promise<AuditStore>,
): void {
  const namesIn = async (store: AuditStore) =>
    (await recordsOf(await store.chains())).flatMap((record) => ("name" in record ? [record.name] : []));

  describe(`audit store: ${name}`, () => {
    test("keeps events in order, as an intact chain", async () => {
      const store = await prepare()();
      for (const each of ["a", "b", "c"]) store.add(allowed(each));
      await store.flush();
      expect(await namesIn(store)).toEqual(["a", "b", "c"]);
      const chains = await store.chains();
      expect((await verifyAll(chains)).map(({ bad }) => bad)).toEqual([undefined]);
      const [head] = chains.map((chain) => chain.head);
      expect(head).toMatchObject({ seq: (await recordsOf(chains)).length });
      await store.close();
    });

    test("takes events from many callers at the same time", async () => {
      const store = await prepare()();
      const names = Array.from({ length: 50 }, (_, at) => `n${at}`);
      await Promise.all(
        names.map(async (each) => {
          await Promise.resolve();
          store.add(allowed(each));
          await store.flush();
          expect(await namesIn(store)).toContain(each);
        }),
      );
      expect((await namesIn(store)).toSorted()).toEqual(names.toSorted());
      expect((await verifyAll(await store.chains())).map(({ bad }) => bad)).toEqual([undefined]);
      await store.close();
    });

    test("reads from a record on", async () => {
      const store = await prepare()();
      for (const each of ["a", "b", "c", "d"]) store.add(allowed(each));
      await store.flush();
      const [chain] = await store.chains();
      const last = (await recordsOf([chain!])).at(-1)!;
      const lines = await Array.fromAsync(chain!.lines(last.seq));
      expect(JSON.parse(lines.at(-1)!.text)).toMatchObject({ name: "d" });
      await store.close();
    });

    test("writes events that nobody waited for when it is closed", async () => {
      const open = prepare();
      const store = await open();
      store.add(allowed("late"));
      await store.close();
      expect(await namesIn(store)).toEqual(["late"]);
    });
  });
}
