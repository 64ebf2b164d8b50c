import {
  type CallToolResult,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  isCallToolResult,
} from "@modelcontextprotocol/server";
import { callHash } from "../calls/decide-call.ts";
import type { Gateway } from "../gateway-api.ts";
import { coreOf, type FaceOptions } from "../gateway-core.ts";
import { guidanceText } from "../operations/answer-parts.ts";
import type { Entry, RpcError } from "../schema/entry.ts";
import { toEntryCall } from "../toolbox.ts";
import type { Json } from "../util/json.ts";
import { toPlainText } from "../util/plain-text.ts";
import { toVisibleText } from "../util/visible-text.ts";
import { failedRequest, passedError, refusedState } from "./protocol-errors.ts";
import type { Round } from "./round.ts";
import type { Rounds } from "./rounds.ts";
import { visibleResult } from "./visible-content.ts";

/** The client has no way to read the rest by a handle, so results go out whole. */
const NATIVE = {
  surface: { surface: "native" },
  limits: { resultTokens: Number.POSITIVE_INFINITY },
} as const;

/** The answer to a call: its result, or a question to the client. */
export type ToolResult = CallToolResult | InputRequiredResult;

/** A call that has ended: returns its result, or throws its error. */
export type Ended = () => ToolResult;

interface Caller {
  readonly gateway: Gateway;
  readonly rounds: Rounds;
}

/** Runs an entry listed as a tool. A result in the protocol's shape is passed on with its text made visible. */
export async function callNative(
  caller: Caller,
  entry: Entry,
  args: Readonly<Record<string, unknown>>,
  options: FaceOptions,
  round: Round,
): Promise<ToolResult> {
  if (entry.kind !== "tool") return load(caller, entry, args, round, toResult);
  checkState(entry, args, round);
  const { passing, passed, failed } = passingOn(options);
  const { input } = toEntryCall(entry, args);
  const output = await coreOf(caller.gateway).run("exec", input, { ...passing, ...NATIVE });
  const whole = passed();
  // The SDK checks the result on its way out; here only its shape matters.
  if (hasContent(whole) && (output.ok || output.error.code === "UPSTREAM_ERROR"))
    return visibleResult(whole, entry.domain, output.ok ? output.meta.outside : output.error.outside);
  if (!output.ok) {
    throwFailed(failed(), output.error.code);
    const { code, message, next, details } = output.error;
    return {
      content: [{ type: "text", text: output.text }],
      structuredContent: { error: { code, message, next, details } },
      isError: true,
    };
  }
  const value = output.result as Json;
  if (isInputRequired(value)) return toNextRound(caller, entry, args, value, round);
  return toResult(value, guidanceText(output.guidance ?? []));
}

/** Loads a document, skill or prompt whole, or asks the client for the input that loading needs. */
export async function load<T>(
  { gateway, rounds }: Caller,
  entry: Entry,
  params: Readonly<Record<string, unknown>>,
  round: Round,
  show: (value: Json) => T,
): Promise<T | InputRequiredResult> {
  checkState(entry, params, round);
  const { passing, passed, failed } = passingOn(round.options);
  const input = { routes: [{ route: entry.route, params: { ...params } }] };
  const answer = await coreOf(gateway).run("get", input, { ...passing, ...NATIVE });
  if (!answer.ok) {
    throwFailed(failed(), answer.error.code);
    throw failedRequest(answer.error);
  }
  const result = answer.results[0]!;
  if (!result.success) throw failedRequest(result.error);
  const value = (passed() ?? result.data.content) as Json;
  return isInputRequired(value) ? toNextRound({ rounds }, entry, params, value, round) : show(value);
}

/** Options of a call that may pass on an upstream server's result unchanged. */
function passingOn(options: FaceOptions): {
  passing: FaceOptions;
  passed(): unknown;
  failed(): RpcError | undefined;
} {
  let given: unknown;
  let error: RpcError | undefined;
  const passOn = (result: unknown) => {
    given = result;
  };
  const passError = (failure: RpcError) => {
    error = failure;
  };
  const client = options.client && { ...options.client, passOn, passError };
  return { passing: client ? { ...options, client } : options, passed: () => given, failed: () => error };
}

function hasContent(value: unknown): value is CallToolResult {
  return isObject(value) && Array.isArray(value.content);
}

/** Passes on the upstream server's protocol error, if that made the call fail. */
function throwFailed(error: RpcError | undefined, code: string): void {
  if (error && code === "UPSTREAM_ERROR") throw passedError(error);
}

interface InputRequired {
  readonly resultType: "input_required";
  readonly inputRequests?: InputRequests;
  readonly requestState?: string;
}

function isInputRequired(value: unknown): value is InputRequired {
  return (
    typeof value === "object" &&
    value !== null &&
    "resultType" in value &&
    value.resultType === "input_required"
  );
}

/** Seals the state that a tool leaves with the client, so that only the same call and principal can return it. */
function toNextRound(
  { rounds }: Pick<Caller, "rounds">,
  entry: Entry,
  args: Readonly<Record<string, unknown>>,
  { inputRequests, requestState }: InputRequired,
  { principal }: Round,
): InputRequiredResult {
  return inputRequired({
    ...(inputRequests && { inputRequests }),
    ...(requestState !== undefined && {
      requestState: rounds.toolState(callHash(entry, args), requestState, principal),
    }),
  });
}

function checkState(entry: Entry, args: unknown, { state }: Round): void {
  if (state?.kind === "tool" && state.call !== callHash(entry, args)) throw refusedState();
}

function toResult(value: Json, guidance = ""): ToolResult {
  if (isCallToolResult(value) && isObject(value) && "content" in value) return value as unknown as ToolResult;
  return {
    content: [{ type: "text", text: toVisibleText(toPlainText(value)) + guidance }],
    ...(isObject(value) && { structuredContent: value }),
  };
}

function isObject(value: unknown): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
