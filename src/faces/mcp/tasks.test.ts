import { expect, test } from "vitest";
import { manualClock } from "../../../test/manual-clock.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { createTasks } from "./tasks.ts";

const ann: Principal = { id: "ann", scopes: ["pay", "mail"], allowWrite: true };
const entry = { route: "lab://tools/research" };
const started = { principal: ann, entry };
const seenBy = (principal: Principal, find: (route: string) => object | undefined = () => ({})) => ({
  principal,
  version: "1",
  find,
});
const forever = () => new Promise<string>(() => {});

test("a task is kept for its time and then ended", async () => {
  const clock = manualClock();
  const tasks = createTasks<string>(clock);
  let wasStopped = false;
  const task = tasks.start(started, 5_000, (signal) => {
    signal.addEventListener("abort", () => (wasStopped = true));
    return forever();
  });
  await clock.advance(4_999);
  expect(tasks.find(task.id, seenBy(ann))).toBe(task);
  expect(wasStopped).toBe(false);
  await clock.advance(1);
  expect(() => tasks.find(task.id, seenBy(ann))).toThrow("Unknown task");
  expect(wasStopped).toBe(true);
});

test("a client cannot keep a task for longer than an hour", () => {
  const tasks = createTasks<string>(manualClock());
  expect(tasks.start(started, 10 ** 12, forever).ttlMs).toBe(60 * 60_000);
});

test("a principal has a bounded number of tasks, and those that have ended make room", async () => {
  const tasks = createTasks<string>(manualClock());
  const first = tasks.start(started, undefined, async () => "done");
  await first.outcome;
  for (let count = 1; count < 65; count += 1) tasks.start(started, undefined, forever);
  expect(() => tasks.find(first.id, seenBy(ann))).toThrow("Unknown task");
  expect(() => tasks.start(started, undefined, forever)).toThrow("tasks are running");
  expect(tasks.start({ principal: { ...ann, id: "bob" }, entry }, undefined, forever).status).toBe("working");
});

test("a cancelled task stays cancelled, whatever its work says later", async () => {
  const tasks = createTasks<string>(manualClock());
  const { promise, resolve } = Promise.withResolvers<string>();
  const task = tasks.start(started, undefined, () => promise);
  task.cancel();
  resolve("too late");
  await task.outcome;
  expect(task.status).toBe("cancelled");
});

test("T4: a task is unknown to others, and to its principal without a scope that it had", () => {
  const tasks = createTasks<string>(manualClock());
  const { id } = tasks.start(started, undefined, forever);
  const more = { ...ann, scopes: ["mail", "pay", "more"] };
  for (const principal of [ann, more]) {
    expect(tasks.find(id, seenBy(principal)).id).toBe(id);
    expect(tasks.list(seenBy(principal))).toHaveLength(1);
  }
  for (const principal of [
    { ...ann, id: "bob" },
    { ...ann, scopes: ["mail"] },
  ]) {
    expect(() => tasks.find(id, seenBy(principal))).toThrow(`Unknown task`);
    expect(tasks.list(seenBy(principal))).toEqual([]);
  }
});

test("T4: a task is unknown once its tool is no longer seen", () => {
  const tasks = createTasks<string>(manualClock());
  const { id } = tasks.start(started, undefined, forever);
  const find = (route: string) => (route === "lab://tools/research" ? undefined : {});
  expect(() => tasks.find(id, seenBy(ann, find))).toThrow("Unknown task");
  expect(tasks.list(seenBy(ann, find))).toEqual([]);
});

test("T17: large results of tasks push out the oldest ones of their own principal alone", async () => {
  const tasks = createTasks<string>(manualClock());
  const large = async () => "x".repeat(5 * 2 ** 20);
  const other = tasks.start({ principal: { ...ann, id: "bob" }, entry }, undefined, large);
  const running = tasks.start(started, undefined, forever);
  const ended = Array.from({ length: 20 }, () => tasks.start(started, undefined, large));
  await Promise.all([other, ...ended].map(({ outcome }) => outcome));
  const kept = tasks.list(seenBy(ann)).map(({ id }) => id);
  // Six results of ten megabytes.
  expect(kept).toEqual([running, ...ended.slice(-6)].map(({ id }) => id));
  expect(tasks.list(seenBy({ ...ann, id: "bob" }))).toHaveLength(1);
});

test("T17: large errors count like results, and a message of any length is cut", async () => {
  const tasks = createTasks<string>(manualClock());
  const data = "x".repeat(5 * 2 ** 20);
  const failing = Array.from({ length: 20 }, () =>
    tasks.start(started, undefined, async (_signal, report) => {
      report(data);
      throw Object.assign(new Error("no"), { data });
    }),
  );
  expect(failing[0]!.message?.length).toBeLessThan(2_000);
  await Promise.allSettled(failing.map(({ outcome }) => outcome));
  expect(tasks.list(seenBy(ann))).toHaveLength(6);
});

test("T17: tasks that have made room leave no timers behind", async () => {
  const clock = manualClock();
  const tasks = createTasks<string>(clock);
  for (let count = 0; count < 1_000; count += 1) {
    await tasks.start(started, 3_600_000, async () => "done").outcome;
  }
  expect(clock.waiting).toBe(64);
});
