import { setTimeout as sleep } from "node:timers/promises";
import type {
  CallToolRequestParams,
  CallToolResult,
  Client,
  RequestOptions,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import type { CallingClient } from "../../core/nouns/entry.ts";

interface TaskCall {
  readonly label: string;
  /** Limits of each request. */
  readonly request: Pick<RequestOptions, "signal" | "timeout">;
  readonly caller: CallingClient | undefined;
}

const taskSchema = z.looseObject({
  taskId: z.string().min(1),
  status: z.enum(["working", "input_required", "completed", "failed", "cancelled"]),
  statusMessage: z.string().optional(),
  pollInterval: z.number().optional(),
});
const createdSchema = z.looseObject({ task: taskSchema });
type UpstreamTask = z.output<typeof taskSchema>;

const POLL_MS = 1_000;
const SHORTEST_POLL_MS = 50;
const LONGEST_POLL_MS = 10_000;
const CANCEL_MS = 5_000;

/** Calls a tool as a task and waits for its result. Status messages are progress; abandoning cancels the task. */
export async function callTask(
  client: Client,
  params: CallToolRequestParams,
  call: TaskCall,
): Promise<CallToolResult> {
  const { specTypeSchemas } = await import("@modelcontextprotocol/client");
  const { label, request } = call;
  const { task } = await client.request(
    { method: "tools/call", params: { ...params, task: {} } },
    createdSchema,
    request,
  );
  const { taskId } = task;
  try {
    const ended = await untilEnded(client, task, call);
    if (ended.status === "cancelled") {
      const reason = `the server cancelled the task${ended.statusMessage ? `: ${toVisibleText(ended.statusMessage, 500)}` : ""}`;
      throw problem("UPSTREAM_ERROR", { server: label, reason }, { server: label });
    }
    return await client.request(
      { method: "tasks/result", params: { taskId } },
      specTypeSchemas.CallToolResult,
      request,
    );
  } catch (error) {
    if (request.signal?.aborted) cancelTask(client, taskId);
    throw error;
  }
}

/** Polls until the task has ended or waits for input, which the server requests while the result is fetched. */
async function untilEnded(
  client: Client,
  first: UpstreamTask,
  { request, caller }: TaskCall,
): Promise<UpstreamTask> {
  let task = first;
  let progress = 0;
  let said: string | undefined;
  for (;;) {
    const { taskId, status, statusMessage, pollInterval = POLL_MS } = task;
    if (statusMessage !== undefined && statusMessage !== said) {
      said = statusMessage;
      progress += 1;
      caller?.progress({ progress, message: toVisibleText(hideSecrets(statusMessage)) });
    }
    if (status !== "working") return task;
    const { signal } = request;
    await sleep(Math.min(Math.max(pollInterval, SHORTEST_POLL_MS), LONGEST_POLL_MS), undefined, { signal });
    task = await client.request({ method: "tasks/get", params: { taskId } }, taskSchema, request);
  }
}

/** Does not await the answer: the caller has left. */
function cancelTask(client: Client, taskId: string): void {
  client
    .request({ method: "tasks/cancel", params: { taskId } }, z.unknown(), { timeout: CANCEL_MS })
    .catch(() => {});
}
