import { expect, test } from "vitest";
import { manualClock } from "../../test/manual-clock.ts";
import type { Principal } from "../schema/principal.ts";
import { createTasks } from "./tasks.ts";

const ann: Principal = { id: "ann", scopes: ["pay", "mail"], allowWrite: true };
const forever = () => new Promise<string>(() => {});

test("a task is kept for its time and then ended", async () => {
  const clock = manualClock();
  const tasks = createTasks<string>(clock);
  let wasStopped = false;
  const task = tasks.start(ann, 5_000, (signal) => {
    signal.addEventListener("abort", () => (wasStopped = true));
    return forever();
  });
  await clock.advance(4_999);
  expect(tasks.find(task.id, ann)).toBe(task);
  expect(wasStopped).toBe(false);
  await clock.advance(1);
  expect(() => tasks.find(task.id, ann)).toThrow("Unknown task");
  expect(wasStopped).toBe(true);
});

test("a client cannot keep a task for longer than an hour", () => {
  const tasks = createTasks<string>(manualClock());
  expect(tasks.start(ann, 10 ** 12, forever).ttlMs).toBe(60 * 60_000);
});

test("a principal has a bounded number of tasks, and those that have ended make room", async () => {
  const tasks = createTasks<string>(manualClock());
  const first = tasks.start(ann, undefined, async () => "done");
  await first.outcome;
  for (let count = 1; count < 65; count += 1) tasks.start(ann, undefined, forever);
  expect(() => tasks.find(first.id, ann)).toThrow("Unknown task");
  expect(() => tasks.start(ann, undefined, forever)).toThrow("tasks are running");
  expect(tasks.start({ ...ann, id: "bob" }, undefined, forever).status).toBe("working");
});

test("a cancelled task stays cancelled, whatever its work says later", async () => {
  const tasks = createTasks<string>(manualClock());
  const { promise, resolve } = Promise.withResolvers<string>();
  const task = tasks.start(ann, undefined, () => promise);
  task.cancel();
  resolve("too late");
  await task.outcome;
  expect(task.status).toBe("cancelled");
});

test("T4: a task is unknown to others, and to its principal without a scope that it had", () => {
  const tasks = createTasks<string>(manualClock());
  const { id } = tasks.start(ann, undefined, forever);
  const more = { ...ann, scopes: ["mail", "pay", "more"] };
  for (const principal of [ann, more]) {
    expect(tasks.find(id, principal).id).toBe(id);
    expect(tasks.list(principal)).toHaveLength(1);
  }
  for (const principal of [
    { ...ann, id: "bob" },
    { ...ann, scopes: ["mail"] },
  ]) {
    expect(() => tasks.find(id, principal)).toThrow(`Unknown task`);
    expect(tasks.list(principal)).toEqual([]);
  }
});
