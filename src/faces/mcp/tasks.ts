import {
  type CallToolResult,
  type ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Clock } from "../../base/util/clock.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { mintHandle } from "../../core/sessions/mint-handle.ts";
import {
  mayStillRead,
  type NeededEntry,
  needsAll,
  type ReadConditions,
  type ResultReader,
} from "../../core/sessions/read-conditions.ts";
import { createFairCache } from "../../core/storage/fair-cache.ts";
import { heapBytes } from "../../core/storage/heap-bytes.ts";
import type { ToolResult } from "./call-native.ts";
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
  find(id: string, reader: ResultReader): Task<T>;
  /** The oldest first. */
  list(reader: ResultReader): readonly Task<T>[];
  /** Ends every task. */
  close(): void;
}

interface StoredTask<T> {
  readonly task: Task<T>;
  readonly needs: ReadConditions;
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
  const tasksByPrincipal = new Map<string, Map<string, StoredTask<T>>>();
  /** The principals of tasks that have ended, by the size of their outcomes. */
  const ended = createFairCache<string>({
    all: { entries: 4_096, size: 256 * MIB },
    perOwner: { entries: MAX_TASKS, size: 64 * MIB },
    ttlMs: MAX_TTL_MS,
    now: clock.monotonic,
    onRemoved: (id, principalId) => forget(principalId, id),
  });

  function tasksOf(principalId: string): Map<string, StoredTask<T>> {
    const tasks = tasksByPrincipal.get(principalId) ?? new Map<string, StoredTask<T>>();
    tasksByPrincipal.set(principalId, tasks);
    return tasks;
  }

  function forget(principalId: string, id: string): void {
    const tasks = tasksByPrincipal.get(principalId);
    const stored = tasks?.get(id);
    if (!tasks || !stored) return;
    tasks.delete(id);
    if (tasks.size === 0) tasksByPrincipal.delete(principalId);
    stored.stopTimer();
    stored.task.cancel();
    ended.delete(id);
  }

  /** Counts the outcome of a task. The oldest ones of its principal make room for it. */
  function settle(principalId: string, id: string, outcome: unknown): void {
    if (tasksByPrincipal.get(principalId)?.has(id))
      ended.set(id, principalId, principalId, heapBytes(outcome));
  }

  return {
    start: ({ principal, entry }, ttlMs, work) => {
      const running = tasksByPrincipal.get(principal.id);
      if (running && running.size >= MAX_TASKS) {
        const done = [...running.values()].find(({ task }) => task.status !== "working");
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
    find: (id, reader) => {
      const stored = tasksByPrincipal.get(reader.principal.id)?.get(id);
      if (!stored || !mayStillRead(reader, stored.needs)) throw unknownName("task", id);
      return stored.task;
    },
    list: (reader) =>
      [...(tasksByPrincipal.get(reader.principal.id)?.values() ?? [])]
        .filter(({ needs }) => mayStillRead(reader, needs))
        .map(({ task }) => task),
    close: () => {
      for (const [principalId, tasks] of [...tasksByPrincipal])
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

/** Tasks of 2025-11-25 are a capability; the newer revision has them as an extension. */
export const TASKS_CAPABILITY = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
const RELATED_TASK = "io.modelcontextprotocol/related-task";

const named = z.object({ taskId: z.string() });

/** Answers the methods about tasks, in the shape of the client's revision. */
export function addTaskMethods(
  server: Server,
  tasks: Tasks<ToolResult>,
  readerOf: (context: ServerContext) => Promise<ResultReader>,
): void {
  const findTask = async ({ taskId }: { taskId: string }, context: ServerContext) =>
    tasks.find(taskId, await readerOf(context));

  server.setRequestHandler("tasks/get", { params: named }, async (params, context) => {
    const task = await findTask(params, context);
    return isModern(context) ? { ...toModern(task), ...(await ending(task)) } : toLegacy(task);
  });
  server.setRequestHandler("tasks/cancel", { params: named }, async (params, context) => {
    const task = await findTask(params, context);
    if (isModern(context)) {
      task.cancel();
      return {};
    }
    if (task.status !== "working") throw refusedTask(`The task is ${task.status} already.`);
    task.cancel();
    return toLegacy(task);
  });
  // The newer revision gives the result with `tasks/get` and lists no tasks.
  server.setRequestHandler("tasks/result", { params: named }, async (params, context) => {
    const task = await findTask(params, context);
    const result = (await task.outcome) as CallToolResult;
    return { ...result, _meta: { ...result._meta, [RELATED_TASK]: { taskId: task.id } } };
  });
  server.setRequestHandler("tasks/list", { params: z.object({}) }, async (_params, context) => ({
    tasks: tasks.list(await readerOf(context)).map(toLegacy),
  }));
  // Keyhole asks before it starts a task, so no task waits for input.
  server.setRequestHandler("tasks/update", { params: named }, async (params, context) => {
    await findTask(params, context);
    return {};
  });
}

/** The answer to a call that became a task. The SDK refuses results of tools without content. */
export function toCreated(task: Task<ToolResult>, isModern: boolean): CallToolResult {
  return isModern
    ? { resultType: "task", content: [], ...toModern(task) }
    : { content: [], task: toLegacy(task) };
}

/** A request of the newer revision carries the capabilities of its client. */
function isModern({ mcpReq }: ServerContext): boolean {
  return mcpReq.envelope !== undefined;
}

function toLegacy(task: Task<ToolResult>) {
  return { ...common(task), ttl: task.ttlMs, pollInterval: POLL_MS };
}

function toModern(task: Task<ToolResult>) {
  return { ...common(task), ttlMs: task.ttlMs, pollIntervalMs: POLL_MS };
}

function common({ id, status, message, createdAt, updatedAt }: Task<ToolResult>) {
  return {
    taskId: id,
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
  };
}

/** The result or the error of a task that has ended. */
async function ending(task: Task<ToolResult>): Promise<object> {
  if (task.status === "completed") return { result: await task.outcome };
  if (task.status !== "failed") return {};
  const error = await task.outcome.catch((failure: unknown) => failure);
  const { code = ProtocolErrorCode.InternalError, message, data } = error as Partial<ProtocolError>;
  return { error: { code, message, ...(data !== undefined && { data }) } };
}
