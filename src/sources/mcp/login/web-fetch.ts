import type { FetchLike } from "@modelcontextprotocol/client";
import type { GuardedRequest } from "../../../base/net/dialler.ts";
import type { GuardedFetch } from "../../../base/net/guarded-fetch.ts";
import { WholeResponse } from "../../../base/net/whole-response.ts";
import { problem } from "../../../base/problems/problem.ts";

const NEWLINE = 10;
const RETURN = 13;

/** Sends a request within limits that its caller need not know. */
export type Send = (url: string | URL, request: GuardedRequest) => Promise<Response>;

/** Adapts a send function to the SDK. */
export function toWebFetch(send: Send): FetchLike {
  return (url, { method, headers, body, signal } = {}) =>
    send(url, {
      ...(method !== undefined && { method }),
      headers: Object.fromEntries(headers instanceof Headers ? headers : new Headers(headers)),
      ...(body != null && { body: textOf(body) }),
      ...(signal && { signal }),
    });
}

/** Aborts an answer, or an event of a stream, larger than `maxBytes`, and calls `onTooLarge` with the reason. */
export function boundAnswers(
  guardedFetch: GuardedFetch,
  maxBytes: number,
  onTooLarge: (reason: string) => void = () => {},
): Send {
  return async (url, request) => {
    const answer = await guardedFetch(url, request);
    // Check the size first: accessing the body creates a stream.
    if (isSmall(answer, maxBytes) || answer.body === null) return answer;
    const { status, statusText, headers: answered } = answer;
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const body = bound(answer.body, maxBytes, isStream ? createEventMeter() : addUp(), onTooLarge);
    return new Response(body, { status, statusText, headers: answered });
  };
}

/** The client enforces content-length, except for compressed bodies. */
function isSmall(answer: Response, maxBytes: number): boolean {
  if (answer instanceof WholeResponse) return answer.size <= maxBytes;
  const { headers } = answer;
  const length = headers.get("content-length");
  return length !== null && headers.get("content-encoding") === null && Number(length) <= maxBytes;
}

function textOf(body: unknown): string {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw problem("REQUEST_REFUSED", { where: "the server", reason: "its body is of an unknown kind" });
}

/** Returns the size including this chunk. */
type ByteMeter = (chunk: Uint8Array) => number;

/** Reads by hand: every call passes here, and piping costs several times as much. */
function bound(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  measure: ByteMeter,
  onTooLarge: (reason: string) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (measure(value) <= maxBytes) return controller.enqueue(value);
        const reason = `it sent a message of more than ${maxBytes} bytes`;
        onTooLarge(reason);
        const lost = problem("UPSTREAM_LOST", { server: "", reason }, { reason });
        controller.error(lost);
        await reader.cancel(lost).catch(() => {});
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function addUp(): ByteMeter {
  let total = 0;
  return (chunk) => {
    total += chunk.length;
    return total;
  };
}

/** Measures the largest event of a stream. Events end with an empty line. */
export function createEventMeter(): ByteMeter {
  let event = 0;
  let line = 0;
  return (chunk) => {
    let largest = 0;
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const returns = at > from && chunk[at - 1] === RETURN ? 1 : 0;
      line += at - from - returns;
      event += at - from + 1;
      largest = Math.max(largest, event);
      if (line === 0) event = 0;
      line = 0;
      from = at + 1;
    }
    const unended = chunk.length - from;
    event += unended;
    // A carriage return at the end of a chunk belongs to the newline in the next one.
    line += unended > 0 && chunk[chunk.length - 1] === RETURN ? unended - 1 : unended;
    return Math.max(largest, event);
  };
}
