import { expect, onTestFinished, test, vi } from "vitest";
import { createApprovalQueue } from "./live-events.ts";

test("T17: one principal's questions leave room for those of others", async () => {
  const desk = createApprovalQueue(
    () => true,
    () => {},
  );
  onTestFinished(() => desk.close());
  const ask = (id: string) =>
    desk.approve({
      op: "shop.pay",
      args: {},
      hash: "h",
      why: "writes",
      principal: { id, scopes: [], allowWrite: true },
    });
  const answers = Array.from({ length: 200 }, () => ask("mallory"));
  expect(answers.filter((answer) => answer === false).length).toBeGreaterThanOrEqual(190);
  const other = ask("ann");
  expect(other).not.toBe(false);
  const waiting = desk.waiting();
  expect(waiting.filter(({ principal }) => principal === "mallory").length).toBeLessThanOrEqual(10);
  const { id } = waiting.find(({ principal }) => principal === "ann")!;
  expect(desk.answer(id, true, "ben")).toBe(true);
  expect(await other).toEqual({ by: "ben" });
  expect(desk.answer(id, true, "ben")).toBe(false);
});

test("a question lasts as long as its client waits, and goes with it", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const desk = createApprovalQueue(
    () => true,
    () => {},
  );
  const client = new AbortController();
  const principal = { id: "ann", scopes: [], allowWrite: true };
  const question = { op: "shop.pay", args: {}, hash: "h", why: "writes", principal } as const;
  const answer = desk.approve(question, { signal: client.signal });
  await vi.advanceTimersByTimeAsync(20 * 60_000);
  expect(desk.waiting()).toHaveLength(1);
  client.abort();
  expect(await answer).toBe(false);
  expect(desk.waiting()).toEqual([]);
  expect(desk.approve(question, { signal: client.signal })).toBe(false);
});
