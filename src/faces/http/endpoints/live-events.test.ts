import { expect, onTestFinished, test } from "vitest";
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
