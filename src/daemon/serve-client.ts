import type { Socket } from "node:net";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { createLineTransport } from "../mcp/line-transport.ts";

/** A client of the daemon. */
export interface Client {
  /** Ends the connection with this word as soon as no request runs. Requests that arrive meanwhile are not begun. */
  leave(word: string): void;
}

type Id = string | number;

/** Lasts until the client leaves, so nothing waits for its answer. */
const ENDLESS = "subscriptions/listen";

/** Serves the protocol over a socket, one message a line. */
export function serveClient(socket: Socket, connect: (transport: Transport) => unknown): Client {
  const wire = createLineTransport(socket, socket);
  const running = new Set<Id>();
  let leaving: string | undefined;
  const transport: Transport = {
    start: async () => {
      await wire.start();
      // Reading the first line has paused it.
      socket.resume();
    },
    close: () => wire.close(),
    send: async (message) => {
      const sent = wire.send(message);
      if (!("method" in message)) done(message.id);
      await sent;
    },
  };

  function take(message: JSONRPCMessage): void {
    if ("method" in message && "id" in message) {
      if (leaving) return;
      if (message.method !== ENDLESS) running.add(message.id);
    }
    transport.onmessage?.(message);
    // A request that is cancelled gets no answer.
    if ("method" in message && message.method === "notifications/cancelled")
      done((message.params as { requestId?: Id } | undefined)?.requestId);
  }

  function done(id: Id | undefined): void {
    if (id !== undefined) running.delete(id);
    leaveIfDone();
  }

  function leaveIfDone(): void {
    if (leaving && running.size === 0) socket.end(`${leaving}\n`);
  }

  wire.onmessage = take;
  wire.onclose = () => {
    transport.onclose?.();
    // A connection that nobody reads any more would keep its client waiting.
    socket.destroySoon();
  };
  wire.onerror = (error) => transport.onerror?.(error);
  connect(transport);
  return {
    leave: (word) => {
      leaving ??= word;
      leaveIfDone();
    },
  };
}
