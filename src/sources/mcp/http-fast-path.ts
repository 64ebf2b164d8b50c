import { AsyncLocalStorage } from "node:async_hooks";
import {
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  parseJSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";
import { WholeResponse } from "../../base/net/whole-response.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";
import { BROKEN_OFF } from "./failure.ts";
import { type Send, toWebFetch } from "./login/web-fetch.ts";

/** Names that need no encoding in a header. */
const PLAIN_NAME = /^(?!=\?)[\x21-\x7e]+$/;

/**
 * Creates the SDK's HTTP transport with a fast path: each plain `tools/call` of the newer protocol skips the headers,
 * signals and streams that the SDK sets up for every request (`npm run bench -- overhead`). The SDK's client still
 * creates each request and checks its result. A response that is not JSON goes to the SDK's transport, as the response
 * to the request that it then sends.
 */
export function createHttpTransport(
  url: URL,
  headers: Readonly<Record<string, string>>,
  send: Send,
): Transport {
  const fetch = toWebFetch(send);
  const arrived = new AsyncLocalStorage<{ response: Response | undefined }>();
  const common = Object.fromEntries(
    new Headers({
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-method": "tools/call",
    }),
  );
  const transport: Transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers },
    fetch: async (target, init) => {
      const store = init?.method === "POST" ? arrived.getStore() : undefined;
      const response = store?.response;
      if (!store || !response) return fetch(target, init);
      // Cleared on first use: later requests in the same async context must not reuse it.
      store.response = undefined;
      return response;
    },
  });
  const sendBySdk = failingWithStream(transport);
  transport.send = async (message, options) => {
    const call = transport.sessionId === undefined ? readPlainCall(message, options) : undefined;
    if (!call) return sendBySdk(message, options);
    const response = await send(url, {
      method: "POST",
      headers: { ...common, "mcp-protocol-version": call.version, "mcp-name": call.name },
      body: JSON.stringify(message),
      ...(options?.requestSignal && { signal: options.requestSignal }),
    });
    // The sending client creates whole responses only for JSON.
    if (response.status !== 200 || !(response instanceof WholeResponse))
      return arrived.run({ response }, () => sendBySdk(message, options));
    for (const answer of [JSON.parse(await response.text())].flat())
      transport.onmessage?.(parseJSONRPCMessage(answer));
  };
  return transport;
}

/** Fails a request whose stream ends early; the SDK would wait forever. A second answer is ignored. */
function failingWithStream(transport: Transport): Transport["send"] {
  const send = transport.send.bind(transport);
  return (message, options) => {
    if (!("id" in message && "method" in message)) return send(message, options);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      transport.onmessage?.({ jsonrpc: "2.0", id: message.id, error: BROKEN_OFF });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
}

/** Undefined for other messages, and for a call whose arguments must be in headers. */
function readPlainCall(message: JSONRPCMessage, options: TransportSendOptions | undefined) {
  if (!("method" in message && "id" in message) || message.method !== "tools/call") return undefined;
  const { name, _meta } = fieldsOf(message.params);
  const version = fieldsOf(_meta)[PROTOCOL_VERSION_META_KEY];
  if (typeof name !== "string" || typeof version !== "string" || !PLAIN_NAME.test(name)) return undefined;
  return options?.headers || options?.resumptionToken ? undefined : { name, version };
}
