import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import {
  type JSONRPCMessage,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  type Transport,
} from "@modelcontextprotocol/server";
import { problem } from "../../base/problems/problem.ts";
import { createLineReader } from "../../sources/mcp/line-reader.ts";

/**
 * Carries one message a line. Messages are JSON, and nothing more is checked here: the reader of a message knows
 * whether it needs the SDK's check. Closes itself when the input ends.
 */
export function createLineTransport(input: Readable, output: Writable): Transport {
  const readLines = createLineReader(STDIO_DEFAULT_MAX_BUFFER_SIZE);
  let isClosed = false;

  const transport: Transport = {
    start: async () => {
      // It has ended before anybody listened.
      if (input.readableEnded || input.destroyed) setImmediate(close);
      input.on("data", receive).on("error", fail).on("end", close).on("close", close);
      // The listener stays after the end: a late write may still fail, and nobody else would hear it.
      output.on("error", failOutput);
    },
    send: async (message) => {
      if (isClosed) throw problem("CLOSED");
      if (output.write(`${JSON.stringify(message)}\n`)) return;
      await drained();
    },
    close: async () => close(),
  };

  function receive(chunk: Buffer): void {
    const read = readLines(chunk);
    if (!read) {
      fail(new Error(`A message is larger than ${STDIO_DEFAULT_MAX_BUFFER_SIZE} bytes`));
      close();
      return;
    }
    for (const line of read) {
      const message = parse(line);
      if (message !== undefined) deliver(message);
    }
  }

  function deliver(message: JSONRPCMessage): void {
    try {
      transport.onmessage?.(message);
    } catch (error) {
      fail(error as Error);
    }
  }

  function fail(error: Error): void {
    transport.onerror?.(error);
  }

  function failOutput(error: Error): void {
    if (isClosed) return;
    fail(error);
    close();
  }

  /** Rejects if the output fails. */
  async function drained(): Promise<void> {
    const settled = new AbortController();
    const { signal } = settled;
    const ends = [once(output, "drain", { signal }), once(output, "close", { signal })];
    await Promise.race(ends).finally(() => settled.abort());
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    input.off("data", receive).off("error", fail).off("end", close).off("close", close);
    if (input.listenerCount("data") === 0) input.pause();
    transport.onclose?.();
  }

  return transport;
}

/** Lines that are no JSON are skipped. */
function parse(line: string): JSONRPCMessage | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
