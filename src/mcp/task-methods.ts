import {
  type CallToolResult,
  type ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Sight } from "../session/needs.ts";
import type { ToolResult } from "./call-native.ts";
import { refusedTask } from "./protocol-errors.ts";
import { POLL_MS, type Task, type Tasks } from "./tasks.ts";

/** Tasks of 2025-11-25 are a capability; the newer revision has them as an extension. */
export const TASKS_CAPABILITY = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
const RELATED_TASK = "io.modelcontextprotocol/related-task";

const named = z.object({ taskId: z.string() });

/** Answers the methods about tasks, in the shape of the client's revision. */
export function addTaskMethods(
  server: Server,
  tasks: Tasks<ToolResult>,
  sightOf: (context: ServerContext) => Promise<Sight>,
): void {
  const found = async ({ taskId }: { taskId: string }, context: ServerContext) =>
    tasks.find(taskId, await sightOf(context));

  server.setRequestHandler("tasks/get", { params: named }, async (params, context) => {
    const task = await found(params, context);
    return isModern(context) ? { ...toModern(task), ...(await ending(task)) } : toLegacy(task);
  });
  server.setRequestHandler("tasks/cancel", { params: named }, async (params, context) => {
    const task = await found(params, context);
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
    const task = await found(params, context);
    const result = (await task.outcome) as CallToolResult;
    return { ...result, _meta: { ...result._meta, [RELATED_TASK]: { taskId: task.id } } };
  });
  server.setRequestHandler("tasks/list", { params: z.object({}) }, async (_params, context) => ({
    tasks: tasks.list(await sightOf(context)).map(toLegacy),
  }));
  // Keyhole asks before it starts a task, so no task waits for input.
  server.setRequestHandler("tasks/update", { params: named }, async (params, context) => {
    await found(params, context);
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
