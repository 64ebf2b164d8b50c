import type { IncomingMessage, ServerResponse } from "node:http";
import { createByteGatherer } from "../util/byte-gatherer.ts";
import type { PlainAnswer } from "./post.ts";

/** Bytes of a stream that may wait for the client. A single part may be larger. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Reads the body of a request. Undefined as soon as it exceeds `maxBytes`. */
export function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const body = createByteGatherer();
    const take = (chunk: Buffer) => {
      body.add(chunk);
      if (body.size <= maxBytes) return;
      request.off("data", take).pause();
      resolve(undefined);
    };
    if (Number(request.headers["content-length"]) > maxBytes) return resolve(undefined);
    request
      .on("data", take)
      .once("end", () => resolve(body.take()))
      .once("error", reject);
  });
}

/** Converts a request without its body, which is read apart because web streams are slow for small bodies. */
export function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", url = "/", headers } = request;
  const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(`http://${headers.host ?? "localhost"}${url}`, { method, headers: given, signal });
}

/** Writes an answer: a stream part by part, anything else in one piece. */
export async function writeResponse(
  response: ServerResponse,
  answer: Response | PlainAnswer,
  isLast: boolean,
): Promise<void> {
  if (!(answer instanceof Response)) return writeJson(response, answer, isLast);
  const headers = { ...Object.fromEntries(answer.headers), ...(isLast && { connection: "close" }) };
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (answer.body !== null && isStream) {
    response.writeHead(answer.status, headers);
    return writeStream(response, answer.body);
  }
  const text = await answer.text();
  response.writeHead(answer.status, { ...headers, "content-length": Buffer.byteLength(text) }).end(text);
}

function writeJson(response: ServerResponse, { json }: PlainAnswer, isLast: boolean): void {
  const length = { "content-length": Buffer.byteLength(json) };
  const headers = { "content-type": "application/json", ...(isLast && { connection: "close" }), ...length };
  response.writeHead(200, headers).end(json);
}

/** Writes parts as they come, because their maker does not wait. Drops a client that leaves too much unread. */
async function writeStream(response: ServerResponse, body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  const giveUp = () => void reader.cancel().catch(() => {});
  if (response.destroyed) return giveUp();
  // Cancelling also ends the wait for the next part.
  response.once("close", giveUp);
  for (;;) {
    const { done, value } = await reader.read();
    if (response.destroyed) return;
    if (done) break;
    if (response.writableLength > MAX_UNREAD_BYTES) return void response.destroy();
    response.write(value);
  }
  response.end();
}
