import { AsyncLocalStorage } from "node:async_hooks";
import {
  isJsonContentType,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  parseJSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { ToolResult } from "./call-native.ts";
import { type AnswerCall, type CallParts, createAnswerCall } from "./call-tool.ts";
import { wantsHeaders } from "./http-messages.ts";
import { paramsRefusal, refusalsOf } from "./malformed.ts";
import {
  createEnvelopes,
  type PlainCall,
  readCancelled,
  readPlainCall,
  type ServerInfo,
  toPlainResult,
} from "./plain-messages.ts";
import type { ClientRequest, ProtocolRevision } from "./request.ts";

/**
 * Wraps the answer to the calls that the SDK has read: a call that it accepts opens the fast path for calls like it,
 * and a call that has already run is not run again.
 */
export type FollowSdk = (answer: AnswerCall, sdk: SdkConnection) => AnswerCall;

interface SdkConnection {
  readonly revision: ProtocolRevision;
  readonly log: ClientRequest["log"];
}

/** A call that has run past the SDK, while the SDK reads its request and sends its result. */
const finished = new AsyncLocalStorage<{ result: Promise<ToolResult> | undefined }>();

function following(answer: AnswerCall, onAccepted: (request: ClientRequest) => void): AnswerCall {
  return (call, request, principal) => {
    const store = finished.getStore();
    const result = store?.result;
    if (store && result) {
      // Cleared on first use: the next request of the same call may come in the same async context.
      store.result = undefined;
      return result;
    }
    onAccepted(request);
    return answer(call, request, principal);
  };
}

/**
 * The way of plain calls past the SDK (`npm run bench -- overhead`): from the message straight to the gateway, and a
 * plain result straight to the client. Everything else goes through the SDK. Both ways answer with the same bytes.
 */
export function createFastPath(parts: CallParts, serverInfo: ServerInfo) {
  const envelopes = createEnvelopes();
  const running = new Set<AbortController>();
  const answer = createAnswerCall(parts, {
    callerOf: (principal) => parts.listings.for(principal),
    knownClient: () => ({}),
  });

  return {
    /** Puts the fast path between a connection and the SDK. */
    connect: (wire: Transport) => connect(wire, serverInfo),
    /** Follows the calls of single requests over HTTP. */
    followSdk: (answerBySdk: AnswerCall): AnswerCall =>
      following(answerBySdk, ({ envelope }) => envelopes.accept(envelope)),
    /** Answers a plain call over HTTP; any other request, and any other result, is for `fetchBySdk`. */
    fetch: async (
      request: Request,
      body: unknown,
      principal: Principal,
      fetchBySdk: () => Promise<Response>,
    ): Promise<Response> => {
      const call = readPlainCall(body, "modern", envelopes);
      // Progress turns the answer into a stream.
      if (!call?.meta || call.meta.progressToken !== undefined || !areRight(request.headers, call))
        return fetchBySdk();
      const { listing } = await parts.listings.for(principal);
      const entry = listing.toolbox.entries.get(call.name);
      if (entry && wantsHeaders(entry)) return fetchBySdk();
      const gone = new AbortController();
      const abort = () => gone.abort(request.signal.reason);
      if (request.signal.aborted) abort();
      request.signal.addEventListener("abort", abort);
      running.add(gone);
      const result = answer(
        call,
        toRequest(call, "modern", { overHttp: true, signal: gone.signal, notify: ignore, log: ignore }),
        principal,
      );
      const plain = await result.then((done) => toPlainResult(done, "modern", serverInfo)).catch(ignore);
      running.delete(gone);
      request.signal.removeEventListener("abort", abort);
      return plain
        ? Response.json({ result: plain, jsonrpc: "2.0", id: call.id })
        : finished.run({ result }, fetchBySdk);
    },
    /** Cancels the calls over HTTP that run. */
    close: () => {
      for (const gone of running) gone.abort(problem("CLOSED"));
    },
  };
}

/** The fast path of one connection. */
function connect(wire: Transport, serverInfo: ServerInfo) {
  const running = new Map<string | number, AbortController>();
  const envelopes = createEnvelopes();
  let opened: (SdkConnection & { readonly answer: AnswerCall }) | undefined;

  const transport: Transport = {
    start: () => wire.start(),
    send: (message, options) => wire.send(message, options),
    close: () => {
      end();
      return wire.close();
    },
    setProtocolVersion: (version) => wire.setProtocolVersion?.(version),
  };
  wire.onmessage = (message, extra) => {
    if (take(message)) return;
    let read: JSONRPCMessage;
    try {
      read = parseJSONRPCMessage(message);
    } catch (error) {
      transport.onerror?.(error as Error);
      return refuse(refusalsOf(message));
    }
    const wrong = paramsRefusal(read);
    if (wrong) return refuse([wrong]);
    transport.onmessage?.(read, extra);
  };
  wire.onclose = () => {
    end();
    transport.onclose?.();
  };
  wire.onerror = (error) => transport.onerror?.(error);

  function refuse(answers: readonly JSONRPCMessage[]): void {
    for (const answer of answers) wire.send(answer).catch(ignore);
  }

  function end(): void {
    opened = undefined;
    for (const controller of running.values()) controller.abort(problem("CLOSED"));
    running.clear();
  }

  function take(message: JSONRPCMessage): boolean {
    if (!opened) return false;
    const cancelled = readCancelled(message);
    const controller = cancelled && running.get(cancelled.id);
    if (controller) {
      controller.abort(cancelled.reason);
      return true;
    }
    const call = readPlainCall(message, opened.revision, envelopes);
    if (!call || running.has(call.id)) return false;
    void run(call, message, opened);
    return true;
  }

  async function run(
    call: PlainCall,
    message: JSONRPCMessage,
    { revision, log, answer }: NonNullable<typeof opened>,
  ) {
    const { id } = call;
    const controller = new AbortController();
    running.set(id, controller);
    const { signal } = controller;
    const notify: ClientRequest["notify"] = (notice) => wire.send({ jsonrpc: "2.0", ...notice });
    const result = answer(call, toRequest(call, revision, { overHttp: false, signal, notify, log }));
    const plain = await result.then((done) => toPlainResult(done, revision, serverInfo)).catch(ignore);
    if (running.get(id) === controller) running.delete(id);
    if (signal.aborted) return;
    if (!plain) return finished.run({ result }, () => transport.onmessage?.(message));
    try {
      await wire.send({ result: plain, jsonrpc: "2.0", id } as JSONRPCMessage);
    } catch (error) {
      transport.onerror?.(new Error(`Failed to send response: ${reasonOf(error)}`));
    }
  }

  const followSdk: FollowSdk = (answer, sdk) =>
    following(answer, ({ envelope }) => {
      opened = { ...sdk, answer };
      envelopes.accept(envelope);
    });
  return { transport, followSdk };
}

function toRequest(
  { id, meta }: PlainCall,
  revision: ProtocolRevision,
  way: Pick<ClientRequest, "overHttp" | "signal" | "notify" | "log">,
): ClientRequest {
  return {
    ...way,
    id,
    method: "tools/call",
    _meta: meta,
    envelope: revision === "modern" ? meta : undefined,
    requestState: (() => undefined) as ClientRequest["requestState"],
  };
}

/** Whether the headers of a request repeat its body as the protocol demands. */
function areRight(headers: Headers, { name, meta }: PlainCall): boolean {
  return (
    headers.get("mcp-protocol-version") === meta?.[PROTOCOL_VERSION_META_KEY] &&
    headers.get("mcp-method") === "tools/call" &&
    headers.get("mcp-name") === name &&
    !name.startsWith("=?") &&
    isJsonContentType(headers.get("content-type"))
  );
}

async function ignore(): Promise<undefined> {}
