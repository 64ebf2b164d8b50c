import type { Principal } from "../schema/principal.ts";
import { mintHandle } from "../session/mint-handle.ts";
import { hasScopes } from "../session/needs.ts";
import type { Clock } from "../util/clock.ts";
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

/** The tasks of a server, each bound to its principal, as long as that has the scopes with which it started the task. */
export interface Tasks<T> {
  /** Starts a task. `ttlMs` is how long it is kept; absent or too long, the store decides. */
  start(principal: Principal, ttlMs: number | undefined, work: Work<T>): Task<T>;
  /** @throws ProtocolError if the principal has no such task. */
  find(id: string, principal: Principal): Task<T>;
  /** The oldest first. */
  list(principal: Principal): readonly Task<T>[];
  /** Ends every task. */
  close(): void;
}

interface Kept<T> {
  readonly task: Task<T>;
  /** The scopes with which it was started: its result may depend on any of them. */
  readonly scopes: readonly string[];
}

/** How often clients should ask for the state of a task. */
export const POLL_MS = 1_000;
const TTL_MS = 10 * 60_000;
const MAX_TTL_MS = 60 * 60_000;
/** Tasks of one principal. More of them would let it fill the memory. */
const MAX_TASKS = 64;

export function createTasks<T>(clock: Clock): Tasks<T> {
  const kept = new Map<string, Map<string, Kept<T>>>();

  function tasksOf(principalId: string): Map<string, Kept<T>> {
    const tasks = kept.get(principalId) ?? new Map<string, Kept<T>>();
    kept.set(principalId, tasks);
    return tasks;
  }

  function forget(principalId: string, id: string): void {
    const tasks = kept.get(principalId);
    tasks?.get(id)?.task.cancel();
    tasks?.delete(id);
    if (tasks?.size === 0) kept.delete(principalId);
  }

  return {
    start: ({ id: principalId, scopes }, ttlMs, work) => {
      const tasks = tasksOf(principalId);
      if (tasks.size >= MAX_TASKS) {
        const ended = [...tasks.values()].find(({ task }) => task.status !== "working");
        if (!ended) throw refusedTask(`${MAX_TASKS} tasks are running: wait until one has ended.`);
        tasks.delete(ended.task.id);
      }
      const ttl = Math.min(Math.max(ttlMs ?? TTL_MS, POLL_MS), MAX_TTL_MS);
      const task = startTask(clock, ttl, work);
      tasks.set(task.id, { task, scopes: [...scopes] });
      clock.after(ttl, () => forget(principalId, task.id));
      return task;
    },
    find: (id, principal) => {
      const found = kept.get(principal.id)?.get(id);
      if (!found || !hasScopes(principal, found.scopes)) throw unknownName("task", id);
      return found.task;
    },
    list: (principal) =>
      [...(kept.get(principal.id)?.values() ?? [])]
        .filter(({ scopes }) => hasScopes(principal, scopes))
        .map(({ task }) => task),
    close: () => {
      for (const tasks of kept.values()) for (const { task } of tasks.values()) task.cancel();
      kept.clear();
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
    [status, message, updatedAt] = [next, said, clock.now()];
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
