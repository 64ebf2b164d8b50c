import type { Client, InputRequests, InputResponses, RequestOptions } from "@modelcontextprotocol/client";
import { isProblem, problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { isPlainObject, type PlainObject } from "../../base/util/plain-object.ts";
import type { CallingClient } from "../../core/nouns/entry.ts";
import type { CallTrace, TracedRequest } from "../../core/nouns/span-context.ts";

/** Requests that a server may send to the client. Only a trusted server may open a page. */
const ASKABLE = ["elicitation", "sampling", "roots"];
/** Copies of the SDK's keys, because the SDK is not loaded at the start. */
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

export interface Asking {
  readonly label: string;
  readonly trusted: boolean;
}

/** The parts of a request that connect the server with the client behind the call. */
export interface PassedRequest {
  readonly params: {
    readonly _meta?: Readonly<Record<string, unknown>>;
    readonly inputResponses?: InputResponses;
    readonly requestState?: string;
  };
  readonly options: Pick<RequestOptions, "onprogress" | "allowInputRequired">;
}

/**
 * Connects the server with the client behind the call: progress always; from a server of the newer protocol also log
 * messages, and questions if results are passed on.
 */
export function passThrough(
  client: Client,
  caller: CallingClient | undefined,
  { trusted }: Pick<Asking, "trusted">,
  meta: Readonly<Record<string, unknown>>,
): PassedRequest {
  const toParams = (_meta: PlainObject) => (Object.keys(_meta).length > 0 ? { _meta } : {});
  if (!caller) return { params: toParams(meta), options: {} };
  const onprogress: RequestOptions["onprogress"] = ({ message, ...update }) =>
    caller.progress({
      ...update,
      ...(message !== undefined && { message: toVisibleText(hideSecrets(message)) }),
    });
  if (client.getProtocolEra() !== "modern") return { params: toParams(meta), options: { onprogress } };
  const { capabilities, responses, state, logLevel } = caller;
  // The face drops messages below its client's level.
  const logged = { ...meta, ...(logLevel !== undefined && { [LOG_LEVEL_KEY]: logLevel }) };
  if (!caller.passOn) return { params: toParams(logged), options: { onprogress } };
  const askable = Object.entries(capabilities).filter(([name]) => ASKABLE.includes(name));
  const { elicitation: _, ...others } = Object.fromEntries(askable) as PlainObject;
  const formOnly = { ...others, ...(takesForms(capabilities) && { elicitation: { form: {} } }) };
  return {
    params: {
      _meta: { ...logged, [CAPABILITIES_KEY]: trusted ? Object.fromEntries(askable) : formOnly },
      ...(Object.keys(responses).length > 0 && { inputResponses: responses as InputResponses }),
      ...(state !== undefined && { requestState: state }),
    },
    options: { onprogress, allowInputRequired: true },
  };
}

/** Whether the result is a question that has to be answered first. */
export function asksFirst(result: object): boolean {
  return "resultType" in result && result.resultType === "input_required";
}

/** Prepares the questions of a server for the client behind the call. */
export function toQuestion<T extends object>(result: T, { label, trusted }: Asking): T {
  const { inputRequests } = result as { inputRequests?: InputRequests };
  if (trusted || !inputRequests) return result;
  const named = Object.entries(inputRequests).map(([key, request]) => [
    key,
    toClientRequest(request as ServerRequest, { label, trusted }),
  ]);
  return { ...result, inputRequests: Object.fromEntries(named) };
}

interface ServerRequest {
  readonly method: string;
  readonly params?: PlainObject | undefined;
}

/**
 * Prepares a server's request for the client behind the call. An untrusted server is named in its forms and in the
 * prompts that it wants completed, and may not open a page.
 *
 * @throws UPSTREAM_ERROR
 */
export function toClientRequest(
  { method, params }: ServerRequest,
  { label, trusted }: Asking,
): ServerRequest {
  if (trusted || method === "roots/list") return { method, params };
  const named = (text: unknown) => `The server ${label} asks: ${toVisibleText(String(text ?? ""))}`;
  if (method === "sampling/createMessage")
    return { method, params: { ...params, systemPrompt: named(params?.systemPrompt) } };
  if (method === "elicitation/create" && (params?.mode ?? "form") === "form")
    return { method, params: { ...params, message: named(params?.message) } };
  const reason = `it asks the client for more than a form (${method}), which only a trusted server may`;
  throw problem("UPSTREAM_ERROR", { server: label, reason }, { server: label });
}

/** Passes a protocol error on to the client, without secrets, and rethrows it. */
export function passError(caller: CallingClient | undefined): (error: unknown) => never {
  return (error) => {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
    if (typeof code === "number" && Number.isInteger(code)) {
      caller?.passError?.(
        hideSecrets({ code, message: String(message), ...(data !== undefined && { data }) }),
      );
    }
    throw error;
  };
}

/** Clients that name no mode are older than modes and take forms. */
export function takesForms({ elicitation }: CallingClient["capabilities"]): boolean {
  return isPlainObject(elicitation) && ("form" in elicitation || !("url" in elicitation));
}

/** Sends a request within the trace of its call and publishes its outcome. */
export async function traceRequest<T extends object>(
  trace: CallTrace | undefined,
  request: TracedRequest,
  send: (meta: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  if (!trace) return send({});
  const call = trace.begin?.(request);
  const { traceparent = trace.traceparent } = call ?? {};
  try {
    const result = await send({ traceparent, ...(trace.tracestate && { tracestate: trace.tracestate }) });
    call?.end("isError" in result && result.isError === true ? "tool_error" : undefined);
    return result;
  } catch (error) {
    call?.end(errorType(error));
    throw error;
  }
}

/** Returns the kind of the error, never its message. */
function errorType(error: unknown): string {
  if (isProblem(error)) return error.code;
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === "number" || typeof code === "string") return String(code).slice(0, 64);
  return typeof name === "string" ? name.slice(0, 64) : "_OTHER";
}
