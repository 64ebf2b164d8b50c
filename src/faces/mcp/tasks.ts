import {
  type CallToolResult,
  type ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
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

/** How often clients should ask for the state of a task. */
const POLL_MS = 1_000;
const TTL_MS = 10 * 60_000;
const MAX_TTL_MS = 60 * 60_000;
/** Tasks of one principal. More of them would let it fill the memory. */
const MAX_TASKS = 64;
const MESSAGE_CHARS = 1_000;
const MIB = 1024 * 1024;

/** The work of a task. `report` takes the messages of the tool. */
type Work<T> = (signal: AbortSignal, report: (message: string) => void) => Promise<T>;

interface StoredTask<T> {
  readonly task: Task<T>;
  readonly principalId: string;
  readonly needs: ReadConditions;
  /** Calls off the end of its time. */
  readonly stopTimer: () => void;
}

export type Tasks<T> = ReturnType<typeof createTasks<T>>;

/**
 * Creates the tasks of a server, each bound to its principal, as long as that sees the tool and has the scopes with
 * which it started the task.
 */
export function createTasks<T>(clock: Clock) {
  /** By id, the oldest first. */
  const tasks = new Map<string, StoredTask<T>>();
  /** The tasks that have ended, by the size of their outcomes. */
  const ended = createFairCache<true>({
    all: { entries: 4_096, size: 256 * MIB },
    perOwner: { entries: MAX_TASKS, size: 64 * MIB },
    ttlMs: MAX_TTL_MS,
    now: clock.monotonic,
    onRemoved: (id) => forget(id),
  });

  function tasksOf(principalId: string): StoredTask<T>[] {
    return [...tasks.values()].filter((stored) => stored.principalId === principalId);
  }

  function forget(id: string): void {
    const stored = tasks.get(id);
    if (!stored) return;
    tasks.delete(id);
    stored.stopTimer();
    stored.task.cancel();
    ended.delete(id);
  }

  return {
    /** Starts a task. `ttlMs` is how long it is kept; absent or too long, the store decides. */
    start: (
      { principal, entry }: { readonly principal: Principal; readonly entry: Pick<NeededEntry, "route"> },
      ttlMs: number | undefined,
      work: Work<T>,
    ): Task<T> => {
      const running = tasksOf(principal.id);
      if (running.length >= MAX_TASKS) {
        const done = running.find(({ task }) => task.status !== "working");
        if (!done) throw refusedTask(`${MAX_TASKS} tasks are running: wait until one has ended.`);
        forget(done.task.id);
      }
      const ttl = Math.min(Math.max(ttlMs ?? TTL_MS, POLL_MS), MAX_TTL_MS);
      const task = startTask(clock, ttl, work);
      const { id } = task;
      const { scopes, routes } = needsAll(principal, [entry]);
      tasks.set(id, {
        task,
        principalId: principal.id,
        // The result may depend on any scope.
        needs: { scopes: [...scopes], routes },
        stopTimer: clock.after(ttl, () => forget(id)),
      });
      // The oldest outcomes of the principal make room for this one.
      const settle = (outcome: unknown) =>
        tasks.has(id) && ended.set(id, principal.id, true, heapBytes(outcome));
      task.outcome.then(settle, (error?: Partial<ProtocolError>) => settle([error?.message, error?.data]));
      return task;
    },
    /** @throws ProtocolError if the principal has no such task. */
    find: (id: string, reader: ResultReader): Task<T> => {
      const stored = tasks.get(id);
      if (stored?.principalId !== reader.principal.id || !mayStillRead(reader, stored.needs))
        throw unknownName("task", id);
      return stored.task;
    },
    /** The oldest first. */
    list: (reader: ResultReader): Task<T>[] =>
      tasksOf(reader.principal.id)
        .filter(({ needs }) => mayStillRead(reader, needs))
        .map(({ task }) => task),
    /** Ends every task. */
    close: () => {
      for (const id of [...tasks.keys()]) forget(id);
    },
  };
}

type TaskStatus = "working" | "completed" | "failed" | "cancelled";

/** A call that goes on after its request was answered. */
export type Task<T> = ReturnType<typeof startTask<T>>;

function startTask<T>(clock: Clock, ttlMs: number, work: Work<T>) {
  const stop = new AbortController();
  const createdAt = clock.now();
  const task = {
    id: mintHandle("task-"),
    status: "working" as TaskStatus,
    /** The latest report of the tool. */
    message: undefined as string | undefined,
    /** Milliseconds since 1970. */
    createdAt,
    updatedAt: createdAt,
    ttlMs,
    cancel: () => {
      update("cancelled");
      stop.abort();
    },
  };

  function update(status: TaskStatus, said = task.message): void {
    if (task.status !== "working") return;
    Object.assign(task, { status, message: said && cutText(said, MESSAGE_CHARS), updatedAt: clock.now() });
  }

  /** The result, or the error of the call. */
  const outcome = work(stop.signal, (said) => update("working", said));
  outcome.then(
    () => update("completed"),
    (error: Error) => update("failed", error.message),
  );
  return Object.assign(task, { outcome });
}

/** Tasks of 2025-11-25 are a capability; the newer revision has them as an extension. */
export const TASKS_CAPABILITY = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

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
    if (!isModern(context) && task.status !== "working")
      throw refusedTask(`The task is ${task.status} already.`);
    task.cancel();
    return isModern(context) ? {} : toLegacy(task);
  });
  // The newer revision gives the result with `tasks/get` and lists no tasks.
  server.setRequestHandler("tasks/result", { params: named }, async (params, context) => {
    const task = await findTask(params, context);
    const result = (await task.outcome) as CallToolResult;
    return { ...result, _meta: { ...result._meta, [RELATED_TASK_META_KEY]: { taskId: task.id } } };
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
