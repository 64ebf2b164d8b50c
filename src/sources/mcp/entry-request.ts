import type { Client, InputRequests, InputResponses, RequestOptions } from "@modelcontextprotocol/client";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import type { PlainObject } from "../../base/util/plain-object.ts";
import type { CallContext, CallingClient, EntryStatus, Lane } from "../../core/nouns/entry.ts";
import type { CallTrace, TracedRequest } from "../../core/nouns/span-context.ts";
import type { ToolOverride, ToolRules } from "./config/overrides.ts";
import { type Listed, toDefinition } from "./definition.ts";
import type { Listing } from "./listing.ts";
import type { PackedTool } from "./packed-tools.ts";
import {
  type Asking,
  hasRelativePath,
  type ServerRequest,
  takesForms,
  toClientRequest,
} from "./seen-client.ts";
import type { Upstream } from "./upstream.ts";

/** The server of these drafts. */
export interface DraftOptions {
  readonly label: string;
  /** Hash of the program or address behind the server. */
  readonly program: string;
  readonly trusted: boolean;
  /** Whether changed descriptions need no new approval. */
  readonly wordingOk: boolean;
  /** The command to approve definitions. */
  readonly approvedBy: string;
  readonly upstream: Upstream;
  readonly status: EntryStatus | undefined;
  readonly timeoutMs: number | undefined;
  /** Lanes set by a person, by tool name. */
  readonly lanes: Readonly<Record<string, Lane>>;
  /** A person's changes to tools, by the server's names. */
  readonly tools: Readonly<Record<string, ToolOverride>>;
  /** Calls of single tools that need a person's approval, by name or pattern. */
  readonly askTools: NonNullable<ToolRules["askTools"]>;
  readonly transport: TracedRequest["transport"];
  /** The address of a server over HTTP. */
  readonly url: string | undefined;
  /** The problem with an error that a tool has answered with. */
  toProblem(reason: string): Promise<Problem>;
}

/** A request to a server for an entry. */
export interface EntryRequest<T extends object> {
  readonly method: string;
  /** The tool or prompt for the trace. */
  readonly target?: string;
  /** Whether running it twice is harmless. */
  readonly repeatable: boolean;
  /** The arguments of a call. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** Throws a problem if the server no longer offers the entry as listed. */
  check(listing: Listing): void;
  /** Sends the request. `passed` belongs in its params. */
  send(client: Client, passed: PassedRequest["params"], options: RequestOptions): Promise<T>;
  /** Converts the result, without secrets, to the value of the call. */
  toValue(result: T): unknown;
}

/** Sends a request for a call. Returns its value, or the question that the server asks first. */
export async function requestForEntry<T extends object>(
  request: EntryRequest<T>,
  options: DraftOptions,
  { signal, client: caller, trace, ...person }: CallContext,
): Promise<unknown> {
  const { repeatable, check, method, target, args = {} } = request;
  const { label, transport, url } = options;
  const traced: TracedRequest = {
    method,
    server: label,
    transport,
    ...(url !== undefined && { url }),
    ...(target !== undefined && { target }),
  };
  const result = await options.upstream.run(
    {
      repeatable,
      caller,
      person,
      asking: options,
      usesFolder: caller?.folder !== undefined && hasRelativePath(args),
      check,
      work: (client, bounds) =>
        traceRequest(trace, traced, (meta) => {
          const passed = passThrough(client, caller, options, meta);
          return request
            .send(client, passed.params, { ...bounds, ...passed.options })
            .catch(passError(caller));
        }),
    },
    signal,
  );
  if (asksFirst(result)) return toQuestion(result, options);
  caller?.passOn?.(result);
  return request.toValue(result);
}

/** Refuses a call if the definition changed since it was listed. */
export function checkOffered(
  listed: Listed,
  among: (listing: Listing) => readonly (Listed | PackedTool)[],
  route: string,
  { trusted }: Pick<DraftOptions, "trusted">,
): (listing: Listing) => void {
  const { hash } = toDefinition(listed);
  return (listing) => {
    if (trusted) return;
    // Compares names first, because a server may have thousands of tools.
    if (among(listing).some((other) => other.name === listed.name && hashOf(other) === hash)) return;
    const reason = "the server no longer offers it as it was listed";
    throw problem("UNAVAILABLE", { name: route, state: "quarantined", reason });
  };
}

function hashOf(listed: Listed | PackedTool): string {
  return "shortHash" in listed ? (listed as PackedTool).hash : toDefinition(listed as Listed).hash;
}

/** The lane that the config gives a tool. */
export function laneOverride(
  tool: string,
  { lanes, tools }: Pick<DraftOptions, "lanes" | "tools">,
): Lane | undefined {
  return overrideOf(tool, { tools }).lane ?? (Object.hasOwn(lanes, tool) ? lanes[tool] : undefined);
}

export function overrideOf(tool: string, { tools }: Pick<DraftOptions, "tools">): ToolOverride {
  return Object.hasOwn(tools, tool) ? tools[tool]! : {};
}

/** Requests that a server may send to the client. Only a trusted server may open a page. */
const ASKABLE = ["elicitation", "sampling", "roots"];
/** Copies of the SDK's keys, because the SDK is not loaded at the start. */
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

/** The parts of a request that connect the server with the calling client. */
export interface PassedRequest {
  readonly params: {
    readonly _meta?: Readonly<Record<string, unknown>>;
    readonly inputResponses?: InputResponses;
    readonly requestState?: string;
  };
  readonly options: Pick<RequestOptions, "onprogress" | "allowInputRequired">;
}

/**
 * Connects the server with the calling client. Always passes progress; a server of the newer protocol may also send log
 * messages and, if results are passed on, questions.
 */
function passThrough(
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
  // The face filters messages by its client's level.
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

/** Whether the result is a question to answer first. */
export function asksFirst(result: object): boolean {
  return "resultType" in result && result.resultType === "input_required";
}

/** Prepares a server's questions for the calling client. */
export function toQuestion<T extends object>(result: T, { label, trusted }: Asking): T {
  const { inputRequests } = result as { inputRequests?: InputRequests };
  if (trusted || !inputRequests) return result;
  const named = Object.entries(inputRequests).map(([key, request]) => [
    key,
    toClientRequest(request as ServerRequest, { label, trusted }),
  ]);
  return { ...result, inputRequests: Object.fromEntries(named) };
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

/** Sends a request within the trace of its call and publishes its outcome. */
async function traceRequest<T extends object>(
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

/** The kind of the error, never its message. */
function errorType(error: unknown): string {
  if (isProblem(error)) return error.code;
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === "number" || typeof code === "string") return String(code).slice(0, 64);
  return typeof name === "string" ? name.slice(0, 64) : "_OTHER";
}
