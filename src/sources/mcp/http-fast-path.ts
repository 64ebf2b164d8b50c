import { AsyncLocalStorage } from "node:async_hooks";
import type {
  FetchLike,
  JSONRPCMessage,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import { WholeResponse } from "../../base/net/whole-response.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";
import { type Send, toWebFetch } from "./login/web-fetch.ts";

/** The way of plain calls past the SDK's HTTP transport. The SDK's client still makes each request and checks its result. */
interface HttpFastPath {
  /** The fetch for the SDK's transport. */
  readonly fetch: FetchLike;
  /** Takes plain calls out of what the transport sends. */
  attach(transport: Transport): void;
}

interface HttpFastPathOptions {
  readonly url: URL;
  /** The headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly send: Send;
  /** Checks a message as the SDK's transport does. */
  readonly readMessage: (value: unknown) => JSONRPCMessage;
}

/** A copy of the SDK's key, because the SDK is not loaded at the start. */
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
/** Names that a header can carry as they are. */
const PLAIN_NAME = /^(?!=\?)[\x21-\x7e]+$/;

/**
 * Sends each plain `tools/call` of the newer protocol itself, without the headers, signals and streams that the SDK's
 * transport sets up for any request (`npm run bench -- overhead`). A response that is not JSON goes to the SDK's
 * transport, as the response to the request that it then sends.
 */
export function createHttpFastPath({ url, headers, send, readMessage }: HttpFastPathOptions): HttpFastPath {
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
  return {
    fetch: async (target, init) => {
      const store = init?.method === "POST" ? arrived.getStore() : undefined;
      const response = store?.response;
      if (!store || !response) return fetch(target, init);
      // Cleared on first use: later requests in the same async context must not reuse it.
      store.response = undefined;
      return response;
    },
    attach: (transport) => {
      const sendBySdk = transport.send.bind(transport);
      transport.send = async (message, options) => {
        const call = transport.sessionId === undefined ? readPlainCall(message, options) : undefined;
        if (!call) return sendBySdk(message, options);
        const response = await send(url, {
          method: "POST",
          headers: { ...common, "mcp-protocol-version": call.version, "mcp-name": call.name },
          body: JSON.stringify(message),
          ...(options?.requestSignal && { signal: options.requestSignal }),
        });
        // The guarded client returns a WholeResponse for JSON only.
        if (response.status !== 200 || !(response instanceof WholeResponse))
          return arrived.run({ response }, () => sendBySdk(message, options));
        for (const answer of [JSON.parse(await response.text())].flat())
          transport.onmessage?.(readMessage(answer));
      };
    },
  };
}

/** Undefined for any other message, and for a call whose arguments have to stand in headers. */
function readPlainCall(message: JSONRPCMessage, options: TransportSendOptions | undefined) {
  if (!("method" in message && "id" in message) || message.method !== "tools/call") return undefined;
  const { name, _meta } = fieldsOf(message.params);
  const version = fieldsOf(_meta)[VERSION_KEY];
  if (typeof name !== "string" || typeof version !== "string" || !PLAIN_NAME.test(name)) return undefined;
  return options?.headers || options?.resumptionToken ? undefined : { name, version };
}
