import type { Principal } from "../schema/principal.ts";
import { mintHandle } from "../session/mint-handle.ts";
import { type NeededEntry, type Needs, needsAll, type Sight, seesStill } from "../session/needs.ts";
import type { Clock } from "../util/clock.ts";
import { cutText } from "../util/cut-text.ts";
import { createFairCache } from "../util/fair-cache.ts";
import { heapBytes } from "../util/heap-bytes.ts";
import { refusedTask, unknownName } from "./protocol-errors.ts";

/** The protocol's name of the extension that carries tasks from 2026-07-28 on. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** A call that goes on after its request was answered. */
export interface Task<T> {
  readonly id: string;
  readonly status: "working" | "completed" | "failed" | "cancelled";
  /** The latest report of the tool. */
  readonly message?: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ttlMs: number;
  /** The result, or the error of the call. */
  readonly outcome: Promise<T>;
  cancel(): void;
}

/** The work of a task. `report` takes the messages of the tool. */
type Work<T> = (signal: AbortSignal, report: (message: string) => void) => Promise<T>;

/** The caller of a task, and the tool that it calls. */
interface Started {
  readonly principal: Principal;
  readonly entry: Pick<NeededEntry, "route">;
}

/**
 * The tasks of a server, each bound to its principal, as long as that sees the tool and has the scopes with which it
 * started the task.
 */
export interface Tasks<T> {
  /** Starts a task. `ttlMs` is how long it is kept; absent or too long, the store decides. */
  start(started: Started, ttlMs: number | undefined, work: Work<T>): Task<T>;
  /** @throws ProtocolError if the principal has no such task. */
  find(id: string, sight: Sight): Task<T>;
  /** The oldest first. */
  list(sight: Sight): readonly Task<T>[];
  /** Ends every task. */
  close(): void;
}

interface Kept<T> {
  readonly task: Task<T>;
  readonly needs: Needs;
  /** Calls off the end of its time. */
  readonly stopTimer: () => void;
}

/** How often clients should ask for the state of a task. */
export const POLL_MS = 1_000;
const TTL_MS = 10 * 60_000;
const MAX_TTL_MS = 60 * 60_000;
/** Tasks of one principal. More of them would let it fill the memory. */
const MAX_TASKS = 64;
const MESSAGE_CHARS = 1_000;
const MIB = 1024 * 1024;

export function createTasks<T>(clock: Clock): Tasks<T> {
  const kept = new Map<string, Map<string, Kept<T>>>();
  /** The principals of tasks that have ended, by the size of their outcomes. */
  const ended = createFairCache<string>({
    all: { entries: 4_096, size: 256 * MIB },
    perOwner: { entries: MAX_TASKS, size: 64 * MIB },
    ttlMs: MAX_TTL_MS,
    now: clock.monotonic,
    onRemoved: (id, principalId) => forget(principalId, id),
  });

  function tasksOf(principalId: string): Map<string, Kept<T>> {
    const tasks = kept.get(principalId) ?? new Map<string, Kept<T>>();
    kept.set(principalId, tasks);
    return tasks;
  }

  function forget(principalId: string, id: string): void {
    const tasks = kept.get(principalId);
    const found = tasks?.get(id);
    if (!tasks || !found) return;
    tasks.delete(id);
    if (tasks.size === 0) kept.delete(principalId);
    found.stopTimer();
    found.task.cancel();
    ended.delete(id);
  }

  /** Counts the outcome of a task. The oldest ones of its principal make room for it. */
  function settle(principalId: string, id: string, outcome: unknown): void {
    if (kept.get(principalId)?.has(id)) ended.set(id, principalId, principalId, heapBytes(outcome));
  }

  return {
    start: ({ principal, entry }, ttlMs, work) => {
      const own = kept.get(principal.id);
      if (own && own.size >= MAX_TASKS) {
        const done = [...own.values()].find(({ task }) => task.status !== "working");
        if (!done) throw refusedTask(`${MAX_TASKS} tasks are running: wait until one has ended.`);
        forget(principal.id, done.task.id);
      }
      const ttl = Math.min(Math.max(ttlMs ?? TTL_MS, POLL_MS), MAX_TTL_MS);
      const task = startTask(clock, ttl, work);
      const { scopes, routes } = needsAll(principal, [entry]);
      tasksOf(principal.id).set(task.id, {
        task,
        // The result may depend on any scope.
        needs: { scopes: [...scopes], routes },
        stopTimer: clock.after(ttl, () => forget(principal.id, task.id)),
      });
      task.outcome.then(
        (result) => settle(principal.id, task.id, result),
        (error?: { message?: unknown; data?: unknown }) =>
          settle(principal.id, task.id, [error?.message, error?.data]),
      );
      return task;
    },
    find: (id, sight) => {
      const found = kept.get(sight.principal.id)?.get(id);
      if (!found || !seesStill(sight, found.needs)) throw unknownName("task", id);
      return found.task;
    },
    list: (sight) =>
      [...(kept.get(sight.principal.id)?.values() ?? [])]
        .filter(({ needs }) => seesStill(sight, needs))
        .map(({ task }) => task),
    close: () => {
      for (const [principalId, tasks] of [...kept])
        for (const id of [...tasks.keys()]) forget(principalId, id);
    },
  };
}

function startTask<T>(clock: Clock, ttlMs: number, work: Work<T>): Task<T> {
  const stop = new AbortController();
  let status: Task<T>["status"] = "working";
  let message: string | undefined;
  const createdAt = clock.now();
  let updatedAt = createdAt;

  function update(next: Task<T>["status"], said = message): void {
    if (status !== "working") return;
    [status, message, updatedAt] = [next, said && cutText(said, MESSAGE_CHARS), clock.now()];
  }

  const outcome = work(stop.signal, (said) => update("working", said));
  outcome.then(
    () => update("completed"),
    (error: Error) => update("failed", error.message),
  );
  return {
    id: mintHandle("task-"),
    createdAt,
    ttlMs,
    outcome,
    get status() {
      return status;
    },
    get message() {
      return message;
    },
    get updatedAt() {
      return updatedAt;
    },
    cancel: () => {
      update("cancelled");
      stop.abort();
    },
  };
}
