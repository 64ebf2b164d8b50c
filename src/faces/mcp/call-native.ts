import {
  type CallToolResult,
  type GetPromptResult,
  type InputRequiredResult,
  inputRequired,
  isCallToolResult,
  isInputRequiredResult,
  type ReadResourceResult,
} from "@modelcontextprotocol/server";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import type { Json } from "../../base/util/json.ts";
import { fieldsOf, isPlainObject } from "../../base/util/plain-object.ts";
import { type ApprovalRequest, callHash } from "../../core/calls/decide-call.ts";
import type { Entry, RpcError } from "../../core/nouns/entry.ts";
import { toPlainText } from "../../core/nouns/plain-text.ts";
import {
  checkOutside,
  guidanceText,
  injectionWarning,
  type Outside,
} from "../../core/operations/answer-parts.ts";
import { detailsJson } from "../../core/operations/error-answer.ts";
import type { AskingOptions, FaceApi, FaceOptions } from "../../gateway/face-api.ts";
import { textOf } from "../../sources/mcp/result-value.ts";
import { failedRequest, passedError, refusedState } from "./protocol-errors.ts";
import type { RequestContext } from "./request.ts";
import type { SealedStates } from "./sealed-state.ts";

/** The client has no way to read the rest by a handle, so results go out whole. */
const NATIVE = {
  surface: { surface: "native" },
  limits: { resultTokens: Number.POSITIVE_INFINITY },
} as const;

/** The answer to a call: its result, or a question to the client. */
export type ToolResult = CallToolResult | InputRequiredResult;

/** A call of an entry that is listed as a tool. */
interface NativeCall {
  readonly entry: Entry;
  readonly args: Readonly<Record<string, unknown>>;
  readonly input: unknown;
}

interface NativeCaller {
  readonly face: FaceApi;
  readonly states: SealedStates;
}

/** Runs an entry listed as a tool. A result in the protocol's shape is passed on with its text made visible. */
export async function callNative(
  caller: NativeCaller,
  { entry, args, input }: NativeCall,
  options: AskingOptions,
  context: RequestContext,
  ask: (question: ApprovalRequest) => ToolResult,
): Promise<ToolResult> {
  if (entry.kind !== "tool") return load(caller, entry, args, context, toResult);
  checkState(entry, args, context);
  const { passing, passed } = passingOn(options);
  const output = await caller.face.run("exec", input, { ...passing, ...NATIVE });
  if ("asks" in output) return ask(output.asks);
  // The SDK checks the result on its way out; here only its shape matters.
  const { content } = fieldsOf(passed.result);
  if (Array.isArray(content) && (output.ok || output.error.code === "UPSTREAM_ERROR")) {
    const outside = output.ok ? output.meta.outside : output.error.outside;
    return visibleResult(passed.result as CallToolResult, entry.domain, outside);
  }
  if (!output.ok) {
    throwFailed(passed.error, output.error.code);
    const { code, message, next, details } = output.error;
    return {
      content: [{ type: "text", text: output.text }],
      structuredContent: { error: { code, message, next, details: detailsJson(details) } },
      isError: true,
    };
  }
  const value = output.result as Json;
  if (isInputRequiredResult(value)) return toInputRequired(caller, entry, args, value, context);
  return toResult(value, guidanceText(output.guidance ?? []));
}

/** Loads a document, skill or prompt whole, or asks the client for the input that loading needs. */
export async function load<T>(
  { face, states }: NativeCaller,
  entry: Entry,
  params: Readonly<Record<string, unknown>>,
  context: RequestContext,
  show: (value: Json) => T,
): Promise<T | InputRequiredResult> {
  checkState(entry, params, context);
  const { passing, passed } = passingOn(context.options);
  const input = { routes: [{ route: entry.route, params: { ...params } }] };
  const answer = await face.run("get", input, { ...passing, ...NATIVE });
  if (!answer.ok) {
    throwFailed(passed.error, answer.error.code);
    throw failedRequest(answer.error);
  }
  const result = answer.results[0]!;
  if (!result.ok) throw failedRequest(result.error);
  const value = (passed.result ?? result.data.content) as Json;
  return isInputRequiredResult(value)
    ? toInputRequired({ states }, entry, params, value, context)
    : show(value);
}

/** Options of a call that may pass on an upstream server's result, or its error, unchanged. */
function passingOn<O extends FaceOptions>(options: O) {
  const passed: { result?: unknown; error?: RpcError } = {};
  const client = options.client && {
    ...options.client,
    passOn: (result: unknown) => {
      passed.result = hideSecrets(result);
    },
    passError: (error: RpcError) => {
      passed.error = error;
    },
  };
  return { passing: client ? { ...options, client } : options, passed };
}

/** Passes on the upstream server's protocol error, if that made the call fail. */
function throwFailed(error: RpcError | undefined, code: string): void {
  if (error && code === "UPSTREAM_ERROR") throw passedError(error);
}

/** Seals the state that a tool leaves with the client, so that only the same call and principal can return it. */
function toInputRequired(
  { states }: Pick<NativeCaller, "states">,
  entry: Entry,
  args: Readonly<Record<string, unknown>>,
  { inputRequests, requestState }: InputRequiredResult,
  { principal }: RequestContext,
): InputRequiredResult {
  return inputRequired({
    ...(inputRequests && { inputRequests }),
    ...(requestState !== undefined && {
      requestState: states.toolState(callHash(entry, args), requestState, principal),
    }),
  });
}

function checkState(entry: Entry, args: unknown, { state }: RequestContext): void {
  if (state?.kind === "tool" && state.call !== callHash(entry, args)) throw refusedState();
}

function toResult(value: Json, guidance = ""): ToolResult {
  if (isCallToolResult(value) && "content" in value) return value;
  return {
    content: [{ type: "text", text: toVisibleText(toPlainText(value)) + guidance }],
    ...(isPlainObject(value) && { structuredContent: value }),
  };
}

type ContentBlock = CallToolResult["content"][number];
type Contents = ReadResourceResult["contents"][number];

/**
 * Prepares the result of an upstream server's tool: text is made visible, and a warning stands before text that tries
 * to steer a model. Structured content, pictures and bytes are data for programs and stay as they are.
 */
function visibleResult(result: CallToolResult, source: string, known?: Outside): CallToolResult {
  const outside = known ?? checkOutside(textOf(result.content), source);
  const warning = outside ? injectionWarning(outside).trimEnd() : "";
  const content = result.content.map(visibleBlock);
  return { ...result, content: warning === "" ? content : [{ type: "text", text: warning }, ...content] };
}

export function visiblePrompt({ description, messages, ...rest }: GetPromptResult): GetPromptResult {
  return {
    ...rest,
    ...(description !== undefined && { description: toVisibleText(description) }),
    messages: messages.map((message) => ({ ...message, content: visibleBlock(message.content) })),
  };
}

export function visibleContents<T extends Contents>(contents: T): T {
  return "text" in contents && typeof contents.text === "string"
    ? { ...contents, text: toVisibleText(contents.text) }
    : contents;
}

function visibleBlock(block: ContentBlock): ContentBlock {
  if (block.type === "text") return { ...block, text: toVisibleText(block.text) };
  if (block.type === "resource") return { ...block, resource: visibleContents(block.resource) };
  if (block.type !== "resource_link") return block;
  const { name, title, description } = block;
  return {
    ...block,
    name: toVisibleText(name),
    ...(title !== undefined && { title: toVisibleText(title) }),
    ...(description !== undefined && { description: toVisibleText(description) }),
  };
}
