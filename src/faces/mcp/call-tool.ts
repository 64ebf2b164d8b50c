import { type CallToolResult, isInputRequiredResult, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { fieldsOf, type PlainObject } from "../../base/util/plain-object.ts";
import { blocksOf } from "../../core/answers/blocks.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { faceApiOf } from "../../gateway/face-api.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { isRepeatable, type ToolAnswer } from "../../gateway/toolbox.ts";
import { createApproval } from "./approval.ts";
import { callNative, type ToolResult } from "./call-native.ts";
import { readsBytes } from "./client-limits.ts";
import type { Listings, ToolListing } from "./listing.ts";
import { refusedState, refusedTask, unknownName } from "./protocol-errors.ts";
import { answerRequest, type ClientRequest, type KnownClient, type RequestContext } from "./request.ts";
import type { SealedStates } from "./sealed-state.ts";
import { TASKS_EXTENSION, type Tasks, toCreated } from "./tasks.ts";

/** Answers a `tools/call`. All calls end here, through the SDK or past it. */
export type AnswerCall = (
  call: NamedCall,
  request: ClientRequest,
  /** The principal of the request, if it names one. */
  principal?: Principal,
) => Promise<ToolResult>;

interface NamedCall {
  readonly name: string;
  readonly args: PlainObject;
  /** Set if a client of 2025-11-25 asks for a task. */
  readonly task?: { readonly ttl?: number | undefined } | undefined;
}

/** The parts of a server that answer calls. */
export interface CallParts {
  readonly gateway: Gateway;
  readonly listings: Listings;
  readonly states: SealedStates;
  /** Approver of calls: the person behind the client, or the gateway's own `approve`. */
  readonly approvals: "client" | "gateway";
  /** Adds structured content to every answer, even if the request does not ask for it. */
  readonly structured: boolean;
  /** Absent on surfaces whose tools are not those of a server. */
  readonly tasks?: Tasks<ToolResult> | undefined;
}

export interface Caller {
  readonly listing: ToolListing;
  readonly principal: Principal;
}

/** Everything that an endpoint knows about its callers. */
interface Callers {
  callerOf(principal: Principal | undefined): Promise<Caller>;
  /** Facts about the client that a request does not repeat. */
  knownClient(): KnownClient | Promise<KnownClient>;
}

export function createAnswerCall(parts: CallParts, { callerOf, knownClient }: Callers): AnswerCall {
  const { clock, view } = faceApiOf(parts.gateway);

  async function findCaller(name: string, principal: Principal | undefined): Promise<Caller> {
    const caller = await callerOf(principal);
    if (caller.listing.toolbox.toCall(name, {})) return caller;
    // A tool that is not listed may belong to a server that is still starting.
    await view("started", caller.principal);
    return parts.listings.for(caller.principal);
  }

  return (call, request, principal) =>
    answerRequest(
      request,
      call.name,
      { clock, knownClient, findCaller: () => findCaller(call.name, principal) },
      ({ listing }, context) => {
        const isModern = request.envelope !== undefined;
        const { tasks } = parts;
        return tasks && becomesTask(listing, call, context, isModern)
          ? callAsTask(parts, tasks, listing, call, { context, isModern })
          : callTool(parts, listing, call, context);
      },
    );
}

/** Runs a tool of the surface. Refusals are results that a model can read and act on. */
async function callTool(
  parts: CallParts,
  { toolbox }: ToolListing,
  { name, args }: NamedCall,
  context: RequestContext,
): Promise<ToolResult> {
  const call = toolbox.toCall(name, args);
  if (!call) throw unknownName("tool", name);
  // A repeated request runs all its calls again, so only an input that can be repeated may ask.
  const asksClient = parts.approvals === "client" && context.canAsk && isRepeatable(call);
  const approval = asksClient ? createApproval(parts.states, context) : undefined;
  const options = { ...context.options, ...(approval && { approve: approval.approve }) };
  const entry = toolbox.entries.get(name);
  const answer = entry
    ? await callNative(parts, entry, args, options, context)
    : toResult(
        await toolbox.call(name, args, options),
        parts.structured || context.structured,
        readsBytes(context.client),
      );
  if (approval?.isRefused()) throw refusedState();
  return approval?.question() ?? answer;
}

function toResult(
  { ok, text, data }: ToolAnswer,
  isStructured: boolean,
  isTextOnly: boolean,
): CallToolResult {
  // The text notes the type and size of every block, and repeats every link.
  const blocks = isTextOnly ? [] : blocksOf(data);
  return {
    content: [{ type: "text", text }, ...blocks],
    ...(isStructured && { structuredContent: data as Record<string, unknown> }),
    ...(!ok && { isError: true }),
  };
}

/**
 * Whether the client wants a task for this call and its server offers one. A client of 2025-11-25 asks with the call;
 * one of the newer revision says that it takes tasks.
 *
 * @throws ProtocolError if a task is asked for that the tool cannot be
 */
function becomesTask(
  { toolbox }: ToolListing,
  { name, task }: NamedCall,
  { options }: RequestContext,
  isModern: boolean,
): boolean {
  const asked = task !== undefined;
  const canBe = toolbox.entries.get(name)?.presentation?.runsAsTask === true;
  if (isModern)
    return canBe && fieldsOf(options.client?.capabilities.extensions)[TASKS_EXTENSION] !== undefined;
  if (asked && !canBe)
    throw refusedTask(`The tool ${name} does not run as a task.`, ProtocolErrorCode.MethodNotFound);
  return asked;
}

/** Starts a call as a task. A question to the person comes first, in place of the task. */
async function callAsTask(
  parts: CallParts,
  tasks: Tasks<ToolResult>,
  listing: ToolListing,
  call: NamedCall,
  { context, isModern }: { readonly context: RequestContext; readonly isModern: boolean },
): Promise<ToolResult> {
  const decisions = await listing.toolbox.decide(call.name, call.args, context.options);
  const asksFirst = parts.approvals === "client" && context.canAsk && !context.state;
  if (asksFirst && decisions.some((decision) => decision.do === "ask"))
    return callTool(parts, listing, call, context);
  // Only tools that are listed become tasks.
  const started = { principal: context.principal, entry: listing.toolbox.entries.get(call.name)! };
  const task = tasks.start(started, call.task?.ttl, async (signal, report) => {
    const { client } = context.options;
    const progress = ({ message }: { readonly message?: string }) => message !== undefined && report(message);
    const options = { ...context.options, signal, ...(client && { client: { ...client, progress } }) };
    const result = await callTool(parts, listing, call, { ...context, options });
    if (!isInputRequiredResult(result)) return result;
    throw refusedTask("The tool asks for input: call it without a task.");
  });
  return toCreated(task, isModern);
}
