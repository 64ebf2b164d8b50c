import { AsyncLocalStorage } from "node:async_hooks";
import type { Client, FetchLike, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { WholeResponse } from "../../net/whole-response.ts";
import { readArgumentHeaders } from "../../schema/argument-headers.ts";
import { type Fields, fieldsOf, isFields } from "../../util/fields.ts";
import type { CallLane } from "./call-lane.ts";
import type { CallParams, CallToolOptions } from "./call-tool.ts";
import { envelopeIn, VERSION_KEY } from "./envelope.ts";
import { type Send, toWebFetch } from "./login/web-fetch.ts";
import { readPlainAnswer } from "./plain-answer.ts";

type Sdk = typeof import("@modelcontextprotocol/client");

interface HttpLaneOptions {
  readonly url: URL;
  /** The headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly send: Send;
}

/** An answer that the SDK has to read, with the number of its request. */
interface Unread {
  readonly id: number;
  /** The response to the request that the SDK knows by this number. */
  toResponse(id: number): Response;
  abort(): void;
}

interface Taken {
  readonly response: Response;
  abort(): void;
}

export interface HttpCallLane extends CallLane {
  /** The fetch for the SDK, which takes over answers from it. */
  readonly fetch: FetchLike;
  /** Follows the transport that the SDK sends through. */
  attach(transport: Transport): void;
  /** A message as the SDK expects it: an answer that it took over has its own number. */
  renumbered(message: JSONRPCMessage): JSONRPCMessage;
}

/** Names that a header can carry as they are. */
const PLAIN_NAME = /^(?!=\?)[\x21-\x7e]+$/;
/** The numbers of requests that no answer of the SDK's own can have. */
const FIRST_ID = 1_000_000_000;

/**
 * The fast lane over Streamable HTTP, for the newer protocol, in which every request has an exchange of its own. An
 * answer that is not plain JSON is given to the SDK, with the rest of its stream.
 */
export function createHttpCallLane(sdk: Sdk, { url, headers, send: sendOut }: HttpLaneOptions): HttpCallLane {
  /** By the arguments of their calls. */
  const unread = new WeakMap<object, Unread>();
  /** Taken once: work that an answer leads to sends requests of its own. */
  const taken = new AsyncLocalStorage<{ answer: Taken | undefined }>();
  const numbers = new Map<number, number>();
  const withHeaders = new WeakMap<object, boolean>();
  const fetch = toWebFetch(sendOut);
  const common = Object.fromEntries(
    new Headers({
      ...headers,
      "content-type": "application/json",
      accept: ACCEPT,
      "mcp-method": "tools/call",
    }),
  );
  let lastId = FIRST_ID;
  let envelope: Fields | undefined;
  let sessionOf: () => unknown = () => undefined;

  function attach(transport: Transport): void {
    const send = transport.send.bind(transport);
    sessionOf = () => transport.sessionId;
    transport.send = async (message, options) => {
      if (!("method" in message && "id" in message)) return send(message, options);
      const { _meta, arguments: args } = fieldsOf(message.params);
      envelope ??= envelopeIn(_meta);
      const answer = isFields(args) ? unread.get(args) : undefined;
      if (!answer) return send(message, options);
      unread.delete(args as object);
      const id = Number(message.id);
      numbers.set(answer.id, id);
      const response = answer.toResponse(id);
      return taken.run({ answer: { response, abort: answer.abort } }, () => send(message, options));
    };
  }

  /** Arguments that have to stand in headers are for the SDK to write there. */
  function hasHeaders(tool: CallToolOptions["toolDefinition"]): boolean {
    const known = withHeaders.get(tool);
    if (known !== undefined) return known;
    const read = readArgumentHeaders(tool.inputSchema);
    const has = read.ok && read.headers.length > 0;
    withHeaders.set(tool, has);
    return has;
  }

  async function call(client: Client, params: CallParams, options: CallToolOptions) {
    const { name, arguments: args } = params;
    const isPlain = envelope && args && PLAIN_NAME.test(name) && sessionOf() === undefined;
    if (!isPlain || client.getProtocolEra() !== "modern" || hasHeaders(options.toolDefinition))
      return client.callTool(params, options);
    lastId += 1;
    const id = lastId;
    const { signal, timeout = sdk.DEFAULT_REQUEST_TIMEOUT_MSEC, onprogress } = options;
    const own = new AbortController();
    const abort = () => own.abort(signal?.reason);
    const late = () =>
      own.abort(new sdk.SdkError(sdk.SdkErrorCode.RequestTimeout, "Request timed out", { timeout }));
    const timer = setTimeout(late, timeout);
    signal?.addEventListener("abort", abort, { once: true });
    let text: string | undefined;
    let response: Response;
    try {
      if (signal?.aborted) abort();
      const _meta = { ...envelope, ...params._meta, ...(onprogress && { progressToken: id }) };
      const message = { method: "tools/call", params: { ...params, _meta }, jsonrpc: "2.0", id };
      const version = String((_meta as Fields)[VERSION_KEY]);
      response = await sendOut(url, {
        method: "POST",
        headers: { ...common, "mcp-protocol-version": version, "mcp-name": name },
        body: JSON.stringify(message),
        signal: own.signal,
      });
      if (isJson(response)) {
        text = await response.text();
        const plain = response.status === 200 ? readAnswer(text, id) : undefined;
        if (plain) return plain;
      }
    } catch (error) {
      throw own.signal.aborted ? own.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
    const toResponse = (to: number) => (text === undefined ? response : withNumber(response, text, id, to));
    unread.set(args, { id, toResponse, abort: () => own.abort() });
    return client.callTool(params, options).finally(() => numbers.delete(id));
  }

  return {
    fetch: async (target, init) => {
      const store = init?.method === "POST" ? taken.getStore() : undefined;
      const answer = store?.answer;
      if (!store || !answer) return fetch(target, init);
      store.answer = undefined;
      init?.signal?.addEventListener("abort", answer.abort, { once: true });
      return answer.response;
    },
    attach,
    renumbered: (message) => {
      if (numbers.size === 0) return message;
      if ("id" in message && !("method" in message)) {
        const id = numbers.get(Number(message.id));
        return id === undefined ? message : { ...message, id };
      }
      const params = "params" in message ? fieldsOf(message.params) : {};
      const progressToken = numbers.get(Number(params.progressToken));
      if (progressToken === undefined) return message;
      return { ...message, params: { ...params, progressToken } } as JSONRPCMessage;
    },
    take: () => false,
    over: (client) => (params, options) => call(client, params, options),
    close: () => {},
  };
}

const ACCEPT = "application/json, text/event-stream";

/** The same answer to the request of another number. */
function withNumber(response: Response, text: string, from: number, to: number): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  for (const name of ["content-length", "content-encoding"]) headers.delete(name);
  const message = parse(text);
  const body = isFields(message) && message.id === from ? JSON.stringify({ ...message, id: to }) : text;
  return new Response(body, { status, statusText, headers });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isJson(response: Response): boolean {
  if (response instanceof WholeResponse) return true;
  return response.headers.get("content-type")?.startsWith("application/json") ?? false;
}

function readAnswer(text: string, id: number) {
  const message = parse(text);
  if (!isFields(message) || message.id !== id || message.error !== undefined) return undefined;
  return readPlainAnswer(message.result, { isModern: true });
}
