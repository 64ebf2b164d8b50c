import type { FetchLike } from "@modelcontextprotocol/client";
import type { GuardedFetch } from "../../../net/guarded-fetch.ts";
import { problem } from "../../../schema/problem.ts";

const NEWLINE = 10;
const RETURN = 13;

/**
 * A guarded fetch in the shape that the SDK takes. An answer, or one event of a stream, that is larger than
 * `maxBytes` breaks off; `onTooLarge` is told why.
 */
export function toWebFetch(
  guardedFetch: GuardedFetch,
  maxBytes: number,
  onTooLarge: (reason: string) => void = () => {},
): FetchLike {
  return async (url, { method, headers, body: sent, signal } = {}) => {
    const answer = await guardedFetch(url, {
      ...(method !== undefined && { method }),
      headers: Object.fromEntries(headers instanceof Headers ? headers : new Headers(headers)),
      ...(sent != null && { body: textOf(sent) }),
      ...(signal && { signal }),
    });
    if (answer.body === null || isSmall(answer, maxBytes)) return answer;
    const { status, statusText, headers: answered } = answer;
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const body = bound(answer.body, maxBytes, isStream ? createEventMeter() : addUp(), onTooLarge);
    return new Response(body, { status, statusText, headers: answered });
  };
}

/** What says its length has it: the client breaks off where more comes. A packed body says another one. */
function isSmall({ headers }: Response, maxBytes: number): boolean {
  const length = headers.get("content-length");
  return length !== null && headers.get("content-encoding") === null && Number(length) <= maxBytes;
}

function textOf(body: unknown): string {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw problem("REQUEST_REFUSED", { where: "the server", reason: "its body is of an unknown kind" });
}

/** How large what is being read has become with this chunk. */
type Meter = (chunk: Uint8Array) => number;

/** A reader of our own: every call passes here, and a stream that is piped costs several times as much. */
function bound(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  measure: Meter,
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

function addUp(): Meter {
  let total = 0;
  return (chunk) => {
    total += chunk.length;
    return total;
  };
}

/** The largest event so far of what is still open: events end with an empty line. */
export function createEventMeter(): Meter {
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
    const rest = chunk.length - from;
    event += rest;
    // A return at the end of a chunk belongs to the newline that begins the next one.
    line += rest > 0 && chunk[chunk.length - 1] === RETURN ? rest - 1 : rest;
    return Math.max(largest, event);
  };
}
