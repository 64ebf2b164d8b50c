import { type CallToolResult, isInputRequiredResult, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Json } from "../../base/util/json.ts";
import { fieldsOf, type PlainObject } from "../../base/util/plain-object.ts";
import { blocksOf, liftBlocks } from "../../core/answers/content.ts";
import type { ApprovalRequest } from "../../core/calls/decide-call.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { AskingOptions, FaceApi } from "../../gateway/face-api.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { readCall, type ToolAnswer, type ToolCall, toToolAnswer } from "../../gateway/toolbox.ts";
import { answersOf, toQuestion } from "./approval.ts";
import { callNative, type ToolResult } from "./call-native.ts";
import type { Listings, ToolListing } from "./listing.ts";
import type { OpenCalls } from "./open-calls.ts";
import { refusedTask, unknownName } from "./protocol-errors.ts";
import {
  answerRequest,
  type ClientRequest,
  type KnownClient,
  type RequestContext,
  readsBytes,
} from "./request.ts";
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
  readonly face: FaceApi;
  readonly listings: Listings;
  readonly states: SealedStates;
  /** Approver of calls: the person behind the client, or the gateway's own `approve`. */
  readonly approvals: "client" | "gateway";
  /** Adds structured content to every answer, even if the request does not ask for it. */
  readonly structured: boolean;
  readonly openCalls: OpenCalls;
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
  const { clock, publish, view } = parts.face;

  async function findTool({ name, args }: NamedCall, principal: Principal | undefined) {
    const caller = await callerOf(principal);
    const tool = caller.listing.toolbox.toCall(name, args);
    if (tool) return { ...caller, tool };
    // A tool that is not listed may belong to a server that is still starting.
    await view("started", caller.principal);
    const later = await parts.listings.for(caller.principal);
    return { ...later, tool: later.listing.toolbox.toCall(name, args) };
  }

  return (call, request, principal) =>
    answerRequest(
      request,
      call.name,
      { clock, publish, knownClient, findCaller: () => findTool(call, principal) },
      async ({ listing: { toolbox }, tool }, context) => {
        if (!tool) throw unknownName("tool", call.name);
        const isModern = request.envelope !== undefined;
        const { tasks } = parts;
        // Decisions and sentences are those of the surface.
        const asked = { ...context, options: { ...toolbox.face, ...context.options } };
        return tasks && becomesTask(tool, call, context, isModern)
          ? callAsTask(parts, tasks, tool, call.task?.ttl, { context: asked, isModern })
          : asked.answersServers
            ? parts.openCalls.run(asked, (options) =>
                callTool(parts, tool, { ...asked, options: { ...asked.options, ...options } }),
              )
            : callTool(parts, tool, asked);
      },
    );
}

/** Runs a tool of the surface, or asks the person behind the client first. Refusals are results that a model can read. */
async function callTool(parts: CallParts, tool: ToolCall, context: RequestContext): Promise<ToolResult> {
  const asksClient = parts.approvals === "client" && context.canAsk;
  const { used, ...asking } = asksClient ? answersOf(parts.states, context) : NOBODY;
  const options: AskingOptions = { ...context.options, ...asking };
  const { operation, input, native } = tool;
  const ask = (question: ApprovalRequest) => toQuestion(question, parts.states, context, used);
  if (native) return callNative(parts, { ...native, input }, options, context, ask);
  const answer = await parts.face.run(operation, input, options);
  if ("asks" in answer) return ask(answer.asks);
  return toResult(
    toToolAnswer(operation, answer),
    parts.structured || context.structured,
    readsBytes(context.client),
  );
}

const NOBODY = { answers: undefined, used: [] };

function toResult(
  { ok, text, data }: ToolAnswer,
  isStructured: boolean,
  isTextOnly: boolean,
): CallToolResult {
  // The text notes the type and size of every block, and repeats every link. So does structured content.
  const blocks = blocksOf(data);
  const structure = blocks.length === 0 ? data : liftBlocks(data as Json).value;
  return {
    content: [{ type: "text", text }, ...(isTextOnly ? [] : blocks)],
    ...(isStructured && { structuredContent: structure as Record<string, unknown> }),
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
  { native }: ToolCall,
  { name, task }: NamedCall,
  { options }: RequestContext,
  isModern: boolean,
): boolean {
  const asked = task !== undefined;
  const canBe = native?.entry.presentation?.runsAsTask === true;
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
  given: ToolCall,
  ttl: number | undefined,
  { context, isModern }: { readonly context: RequestContext; readonly isModern: boolean },
): Promise<ToolResult> {
  const { options } = context;
  const tool = readCall(given);
  const decisions = await parts.face.decide(tool.operation, tool.input, options);
  const asksFirst = parts.approvals === "client" && context.canAsk && !context.state;
  if (asksFirst && decisions.some((decision) => decision.do === "ask")) return callTool(parts, tool, context);
  // Only tools that are listed become tasks.
  const started = { principal: context.principal, entry: tool.native!.entry };
  const task = tasks.start(started, ttl, async (signal, report) => {
    const { client } = options;
    const progress = ({ message }: { readonly message?: string }) => message !== undefined && report(message);
    const inTask = { ...options, signal, ...(client && { client: { ...client, progress } }) };
    const result = await callTool(parts, tool, { ...context, options: inTask });
    if (!isInputRequiredResult(result)) return result;
    throw refusedTask("The tool asks for input: call it without a task.");
  });
  return toCreated(task, isModern);
}
