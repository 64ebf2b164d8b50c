import { isInputRequiredResult, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { ToolResult } from "./call-native.ts";
import { callTool, type ToolCaller } from "./call-tool.ts";
import type { Listing } from "./listing.ts";
import { refusedTask } from "./protocol-errors.ts";
import type { Round } from "./round.ts";
import { toCreated } from "./task-methods.ts";
import { TASKS_EXTENSION, type Tasks } from "./tasks.ts";

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly task?: { readonly ttl?: number | undefined } | undefined;
}

/**
 * Whether the client wants a task for this call and its server offers one. A client of 2025-11-25 asks with the call;
 * one of the newer revision says that it takes tasks.
 *
 * @throws ProtocolError if a task is asked for that the tool cannot be
 */
export function becomesTask(
  { toolbox }: Listing,
  { name, task }: Call,
  { options }: Round,
  isModern: boolean,
): boolean {
  const asked = task !== undefined;
  const canBe = toolbox.entries.get(name)?.presentation?.runsAsTask === true;
  if (isModern) return canBe && takesTasks(options.client?.capabilities);
  if (asked && !canBe)
    throw refusedTask(`The tool ${name} does not run as a task.`, ProtocolErrorCode.MethodNotFound);
  return asked;
}

/** Starts a call as a task. A question to the person comes first, in place of the task. */
export async function callAsTask(
  caller: ToolCaller,
  tasks: Tasks<ToolResult>,
  listing: Listing,
  call: Call,
  { round, isModern }: { readonly round: Round; readonly isModern: boolean },
): Promise<ToolResult> {
  const decisions = await listing.toolbox.decide(call.name, call.args, round.options);
  const asksFirst = caller.approvals === "client" && round.canAsk && !round.state;
  if (asksFirst && decisions.some((decision) => decision.do === "ask"))
    return callTool(caller, listing, call, round);
  // Only tools that are listed become tasks.
  const started = { principal: round.principal, entry: listing.toolbox.entries.get(call.name)! };
  const task = tasks.start(started, call.task?.ttl, async (signal, report) => {
    const { client } = round.options;
    const progress = ({ message }: { readonly message?: string }) => message !== undefined && report(message);
    const options = { ...round.options, signal, ...(client && { client: { ...client, progress } }) };
    const result = await callTool(caller, listing, call, { ...round, options });
    if (!isInputRequiredResult(result)) return result;
    throw refusedTask("The tool asks for input: call it without a task.");
  });
  return toCreated(task, isModern);
}

function takesTasks(capabilities: Readonly<Record<string, unknown>> = {}): boolean {
  const { extensions } = capabilities as { extensions?: Readonly<Record<string, unknown>> };
  return extensions?.[TASKS_EXTENSION] !== undefined;
}
