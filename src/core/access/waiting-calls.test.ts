import { describe, expect, test } from "vitest";
import { createMemoryRecords } from "../storage/records.ts";
import { openGrants } from "./grants.ts";
import { type CallQuestion, createWaitingCalls } from "./waiting-calls.ts";

const question = (more: Partial<CallQuestion> = {}): CallQuestion => ({
  op: "files.file.delete",
  args: { path: "a" },
  hash: "h1",
  why: "destroys",
  principal: { id: "ann" },
  ...more,
});

/** Two processes over one store, and their clock. */
function open() {
  const storage = createMemoryRecords();
  const clock = { now: 0 };
  const [one, other] = [1, 2].map(() => createWaitingCalls(openGrants(storage, "call"), () => clock.now));
  return { one: one!, other: other!, clock };
}

async function approveAll({ other }: ReturnType<typeof open>, by = "person"): Promise<void> {
  for (const call of await other.list()) expect(await other.approve(call, by)).toBe(true);
}

describe("a call that waits for a person in another process", () => {
  test("T22: a call that waits is approved by its name, and taken once", async () => {
    const opened = open();
    const name = await opened.one.add(question());
    expect(name).toMatch(/^call:[0-9a-z]{6}$/);
    expect(await opened.one.add(question())).toBe(name);
    expect(await opened.other.list()).toMatchObject([{ name, op: "files.file.delete", principal: "ann" }]);
    expect(await opened.one.take(question())).toBe(false);
    await approveAll(opened);
    expect(await opened.other.list()).toEqual([]);
    const taken = await Promise.all(
      [opened.one, opened.other, opened.one].map((calls) => calls.take(question())),
    );
    expect(taken.filter(Boolean)).toEqual([{ by: "person" }]);
    expect(await opened.one.take(question())).toBe(false);
  });

  test("T22: a call that waits counts for no other hash and no other principal", async () => {
    const opened = open();
    await opened.one.add(question());
    await approveAll(opened);
    expect(await opened.one.take(question({ hash: "h2" }))).toBe(false);
    expect(await opened.one.take(question({ principal: { id: "bob" } }))).toBe(false);
    expect(await opened.one.take(question())).toEqual({ by: "person" });
  });

  test("T22: a call that waits is approved as it was shown, and not as it is by then", async () => {
    const opened = open();
    await opened.one.add(question());
    const [shown] = await opened.other.list();
    expect(await opened.other.approve({ ...shown!, hash: "h2" }, "person")).toBe(false);
    expect(await opened.other.approve({ ...shown!, principal: "bob" }, "person")).toBe(false);
    expect(await opened.other.approve(shown!, "person")).toBe(true);
    expect(await opened.other.approve(shown!, "person")).toBe(false);
  });

  test("T22: a call that waits expires: after an hour without an answer, and ten minutes after one", async () => {
    const opened = open();
    await opened.one.add(question());
    opened.clock.now = 61 * 60_000;
    expect(await opened.other.list()).toEqual([]);
    await opened.one.add(question());
    await approveAll(opened);
    opened.clock.now += 11 * 60_000;
    expect(await opened.one.take(question())).toBe(false);
  });

  test("T22: a call that waits is one of 32 at most of its principal; arguments that nobody would read are not kept", async () => {
    const opened = open();
    await opened.one.add(question({ principal: { id: "bob" } }));
    for (let each = 0; each < 40; each += 1) {
      opened.clock.now += 1;
      await opened.one.add(question({ hash: `n${each}` }));
    }
    const waiting = await opened.other.list();
    expect(waiting.filter(({ principal }) => principal === "ann")).toHaveLength(32);
    expect(waiting[0]?.hash).toBe("n39");
    expect(waiting.some(({ principal }) => principal === "bob")).toBe(true);
    expect(await opened.one.add(question({ args: { path: "x".repeat(70_000) } }))).toBeUndefined();
  });
});
