import type { IncomingMessage, ServerResponse } from "node:http";

/** Parts of a stream that wait for the client. One part may be larger. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** The body of a request, or undefined as soon as there is more of it than allowed. */
export function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      request.off("data", take).pause();
      resolve(undefined);
    };
    if (Number(request.headers["content-length"]) > maxBytes) return resolve(undefined);
    request
      .on("data", take)
      .once("end", () => resolve(Buffer.concat(chunks)))
      .once("error", reject);
  });
}

/** A request without its body, which is read apart: the web's own streams cost more than most bodies. */
export function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", url = "/", headers } = request;
  const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(`http://${headers.host ?? "localhost"}${url}`, { method, headers: given, signal });
}

/** Writes an answer: a stream as its parts come, anything else in one piece. */
export async function writeResponse(
  response: ServerResponse,
  answer: Response,
  isLast: boolean,
): Promise<void> {
  const headers = { ...Object.fromEntries(answer.headers), ...(isLast && { connection: "close" }) };
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (answer.body !== null && isStream) {
    response.writeHead(answer.status, headers);
    return writeStream(response, answer.body);
  }
  const text = await answer.text();
  response.writeHead(answer.status, { ...headers, "content-length": Buffer.byteLength(text) }).end(text);
}

/** What comes is taken at once, for its maker does not wait; whoever leaves too much of it unread is dropped. */
async function writeStream(response: ServerResponse, body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  const giveUp = () => void reader.cancel().catch(() => {});
  if (response.destroyed) return giveUp();
  // Ends the wait for the next part, too.
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
