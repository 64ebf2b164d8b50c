import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import { problem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";
import type { AnswerCall } from "./answer-call.ts";
import type { Ended } from "./call-native.ts";
import { createEnvelopes } from "./envelopes.ts";
import type { Incoming } from "./incoming.ts";
import { type PlainCall, readCancelled, readPlainCall } from "./plain-call.ts";
import { type Era, type ServerInfo, toPlainResult } from "./plain-result.ts";

/**
 * The fast lane of one connection: plain calls go straight to the gateway, and plain results straight to the wire.
 * Everything else goes through the SDK. Both ways answer with the same bytes.
 */
export interface CallLane {
  /** The connection as the SDK sees it. */
  readonly transport: Transport;
  /** Opens the lane for calls with this envelope: the SDK has accepted one, so the connection is ready for more. */
  open(endpoint: LaneEndpoint, envelope: unknown): void;
  /** A call that has ended in the lane, but whose result only the SDK can send. Taken once. */
  ended(id: string | number): Ended | undefined;
}

/** The part of a connection that answers calls. */
export interface LaneEndpoint {
  readonly era: Era;
  readonly answer: AnswerCall;
  log: Incoming["log"];
}

interface LaneOptions {
  readonly wire: Transport;
  readonly serverInfo: ServerInfo;
}

export function createCallLane({ wire, serverInfo }: LaneOptions): CallLane {
  const running = new Map<string | number, AbortController>();
  const envelopes = createEnvelopes();
  const endings = new Map<string | number, Ended>();
  let endpoint: LaneEndpoint | undefined;

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
      return void transport.onerror?.(error as Error);
    }
    transport.onmessage?.(read, extra);
  };
  wire.onclose = () => {
    end();
    transport.onclose?.();
  };
  wire.onerror = (error) => transport.onerror?.(error);

  function end(): void {
    endpoint = undefined;
    for (const controller of running.values()) controller.abort(problem("CLOSED"));
    running.clear();
  }

  function take(message: JSONRPCMessage): boolean {
    if (!endpoint) return false;
    const cancelled = readCancelled(message);
    const controller = cancelled && running.get(cancelled.id);
    if (controller) {
      controller.abort(cancelled.reason);
      return true;
    }
    const call = readPlainCall(message, endpoint.era, envelopes);
    if (!call || running.has(call.id)) return false;
    void run(call, message, endpoint);
    return true;
  }

  async function run(call: PlainCall, message: JSONRPCMessage, { era, answer, log }: LaneEndpoint) {
    const { id, meta } = call;
    const controller = new AbortController();
    running.set(id, controller);
    let ended: Ended;
    let plain: object | undefined;
    try {
      const result = await answer(call, {
        ...NOTHING,
        id,
        _meta: meta,
        envelope: era === "modern" ? (meta as Incoming["envelope"]) : undefined,
        signal: controller.signal,
        notify: (notification) => wire.send({ jsonrpc: "2.0", ...notification }),
        log,
      });
      ended = () => result;
      plain = toPlainResult(result, era, serverInfo);
    } catch (error) {
      ended = () => {
        throw error;
      };
    }
    if (running.get(id) === controller) running.delete(id);
    if (controller.signal.aborted) return;
    if (!plain) {
      endings.set(id, ended);
      return transport.onmessage?.(message);
    }
    try {
      await wire.send({ result: plain, jsonrpc: "2.0", id } as JSONRPCMessage);
    } catch (error) {
      transport.onerror?.(new Error(`Failed to send response: ${reasonOf(error)}`));
    }
  }

  return {
    transport,
    open: (opened, envelope) => {
      endpoint = opened;
      envelopes.accept(envelope);
    },
    ended: (id) => {
      const ended = endings.get(id);
      endings.delete(id);
      return ended;
    },
  };
}

/** A call over a pipe that is not a further round of an earlier one. */
export const NOTHING = {
  method: "tools/call",
  overHttp: false,
  inputResponses: undefined,
  requestState: (() => undefined) as Incoming["requestState"],
};
