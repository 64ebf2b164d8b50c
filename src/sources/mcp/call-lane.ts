import type { Client, Transport } from "@modelcontextprotocol/client";
import { type Fields, fieldsOf, isFields } from "../../util/fields.ts";
import type { CallParams, CallTool, CallToolOptions } from "./call-tool.ts";
import { envelopeIn } from "./envelope.ts";
import { readPlainAnswer } from "./plain-answer.ts";

/**
 * The fast lane of a connection: calls are sent past the SDK, and plain answers are read without it. Any other answer
 * is given to the SDK, as the answer to the same call.
 */
export interface CallLane {
  /** Takes a message that belongs to a call of the lane: its answer, or its progress. */
  take(message: unknown): boolean;
  /** Calls a tool over the connection of this client. */
  over(client: Client): CallTool;
  /** Fails the calls that wait, because the connection has ended. */
  close(): void;
}

interface Waiting {
  readonly options: CallToolOptions;
  answer(message: Fields): void;
  fail(error: unknown): void;
}

type Sdk = typeof import("@modelcontextprotocol/client");

/** The SDK counts its own requests from zero and never comes so far. Any integer of 32 bits may be an id. */
const FIRST_ID = 1_000_000_000;
const LAST_ID = 2_000_000_000;

/**
 * Creates the lane of a transport. The SDK sends through the same transport. `receive` checks an answer that the SDK has
 * to read and passes it on: an answer that breaks the protocol must fail its call.
 */
export function createCallLane(sdk: Sdk, transport: Transport, receive: (answer: Fields) => void): CallLane {
  const waiting = new Map<number, Waiting>();
  /** Answers that the SDK has to read, by the arguments of their calls. */
  const answers = new WeakMap<object, Fields>();
  const send = transport.send.bind(transport);
  let lastId = FIRST_ID;
  let envelope: Fields | undefined;

  transport.send = async (message, options) => {
    if (!("method" in message && "id" in message)) return send(message, options);
    const { _meta, arguments: args } = fieldsOf(message.params);
    envelope ??= envelopeIn(_meta);
    const answer = isFields(args) ? answers.get(args) : undefined;
    if (!answer) return send(message, options);
    answers.delete(args as object);
    queueMicrotask(() => receive({ ...answer, id: message.id }));
  };

  async function call(client: Client, params: CallParams, options: CallToolOptions): ReturnType<CallTool> {
    const isModern = client.getProtocolEra() === "modern";
    const { arguments: args } = params;
    if ((isModern && !envelope) || !args || lastId === LAST_ID || options.signal?.aborted)
      return client.callTool(params, options);
    const answer = await request(params, options, isModern ? envelope : undefined);
    const plain = readPlainAnswer(answer.result, { isModern });
    if (plain && answer.error === undefined) return plain;
    answers.set(args, answer);
    return client.callTool(params, options);
  }

  function request(
    params: CallParams,
    options: CallToolOptions,
    shared: Fields | undefined,
  ): Promise<Fields> {
    lastId += 1;
    const id = lastId;
    const { signal, timeout = sdk.DEFAULT_REQUEST_TIMEOUT_MSEC, onprogress } = options;
    const { promise, resolve, reject } = Promise.withResolvers<Fields>();
    const _meta = { ...shared, ...params._meta, ...(onprogress && { progressToken: id }) };
    const cancel = (reason: unknown) => {
      const told = { requestId: id, reason: String(reason), ...(shared && { _meta: shared }) };
      send({ jsonrpc: "2.0", method: "notifications/cancelled", params: told }).catch(() => {});
      end(() => reject(reason));
    };
    const abort = () => cancel(signal?.reason);
    const late = () =>
      cancel(new sdk.SdkError(sdk.SdkErrorCode.RequestTimeout, "Request timed out", { timeout }));
    let timer: NodeJS.Timeout | undefined;
    function end(settle: () => void): void {
      waiting.delete(id);
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      settle();
    }
    waiting.set(id, {
      options,
      answer: (message) => end(() => resolve(message)),
      fail: (error) => end(() => reject(error)),
    });
    send({ method: "tools/call", params: { ...params, _meta }, jsonrpc: "2.0", id }).catch((error) =>
      waiting.get(id)?.fail(error),
    );
    if (!waiting.has(id)) return promise;
    // The request is on its way by now, so that the server works meanwhile.
    timer = setTimeout(late, timeout);
    signal?.addEventListener("abort", abort, { once: true });
    return promise;
  }

  return {
    take: (message) => {
      if (waiting.size === 0 || !isFields(message)) return false;
      if (message.method === undefined) {
        const call = waiting.get(Number(message.id));
        call?.answer(message);
        return call !== undefined;
      }
      const progress = message.method === "notifications/progress" ? readProgress(message.params) : undefined;
      const call = progress && waiting.get(progress.token);
      call?.options.onprogress?.(progress!.update);
      return call !== undefined;
    },
    over: (client) => (params, options) => call(client, params, options),
    close: () => {
      const closed = new sdk.SdkError(sdk.SdkErrorCode.ConnectionClosed, "Connection closed");
      for (const { fail } of [...waiting.values()]) fail(closed);
    },
  };
}

function readProgress(params: unknown) {
  const { progressToken, progress, total, message } = fieldsOf(params);
  const isRight =
    typeof progress === "number" &&
    (total === undefined || typeof total === "number") &&
    (message === undefined || typeof message === "string");
  if (!isRight) return undefined;
  const update = {
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message }),
  };
  return { token: Number(progressToken), update };
}
