import { Agent, type ClientRequest, type IncomingMessage, request as openHttp } from "node:http";
import { request as openHttps, Agent as TlsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import { addAbortSignal, pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { problem } from "../schema/problem.ts";
import type { GuardedRequest } from "./guarded-request.ts";
import { isCut } from "./is-cut.ts";
import { WholeResponse } from "./whole-response.ts";

/** Sends requests over connections that it keeps open for a while. It checks addresses and nothing else. */
export interface Dialler {
  send(url: URL, request: GuardedRequest): Promise<Response>;
  close(): void;
}

const CONNECT_MS = 10_000;
/** Shorter than the idle time of most servers, so that a request seldom meets a connection that is closing. */
const IDLE_MS = 4_000;
/** JSON answers up to this size are read whole: a stream would cost more than its content. */
const WHOLE_BYTES = 64 * 1024;
const DEFAULTS = { accept: "*/*", "accept-encoding": "gzip, deflate, br", "user-agent": "keyhole" };
const DECODERS = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);
const NULL_BODY = new Set([204, 205, 304]);
const SAFE = new Set(["GET", "HEAD"]);

export function createDialler(lookup: LookupFunction): Dialler {
  const settings = { keepAlive: true, timeout: IDLE_MS, lookup };
  const plain = new Agent(settings);
  const secure = new TlsAgent(settings);

  return {
    send: async (url, { method = "GET", headers, body, signal }) => {
      signal?.throwIfAborted();
      const options = {
        method,
        headers: { ...DEFAULTS, ...headers, ...(body !== undefined && lengthOf(body)) },
      };
      const open = () => {
        const request =
          url.protocol === "https:"
            ? limitConnecting(openHttps(url, { ...options, agent: secure }), "secureConnect")
            : limitConnecting(openHttp(url, { ...options, agent: plain }), "connect");
        return signal ? endWith(signal, request) : request;
      };
      const answer = await ask(open, body, SAFE.has(method));
      try {
        return await toResponse(answer, method, signal);
      } catch (error) {
        answer.destroy();
        throw error;
      }
    },
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

function lengthOf(body: string | Uint8Array): { "content-length": number } {
  return { "content-length": Buffer.byteLength(body) };
}

/** Limits the time until TLS is agreed on, because a host may accept a connection and then stay silent. */
function limitConnecting(request: ClientRequest, connected: "connect" | "secureConnect"): ClientRequest {
  return request.once("socket", (socket) => {
    if (request.reusedSocket) return;
    const timer = setTimeout(() => request.destroy(unreached(request.host)), CONNECT_MS);
    const stop = () => clearTimeout(timer);
    socket.once(connected, stop).once("close", stop);
  });
}

/** Node's own `signal` option watches a dozen events of every request for the same. */
function endWith(signal: AbortSignal, request: ClientRequest): ClientRequest {
  const end = () => request.destroy(new Error("The request was cancelled", { cause: signal.reason }));
  if (signal.aborted) return end();
  signal.addEventListener("abort", end, { once: true });
  return request.once("close", () => signal.removeEventListener("abort", end));
}

/** Waits for the answer. Repeats a safe request whose reused connection was just being closed by the host. */
async function ask(
  open: () => ClientRequest,
  body: GuardedRequest["body"],
  repeatable: boolean,
): Promise<IncomingMessage> {
  const request = open();
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      let answered = false;
      request.once("response", (answer) => {
        answered = true;
        resolve(answer);
      });
      // Keeps listening after the answer begins; the reader of the answer gets those errors.
      request.on("error", reject);
      // Non-HTTP replies close without an error.
      request.once("close", () => answered || reject(unanswered(request.host)));
      request.end(body);
    });
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (!repeatable || !request.reusedSocket || !isCut(code)) throw error;
    return ask(open, body, repeatable);
  }
}

async function toResponse(
  answer: IncomingMessage,
  method: string,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const { statusCode: status = 0, statusMessage: statusText = "" } = answer;
  const headers = headersOf(answer);
  const init = { status, statusText, headers };
  if (method === "HEAD" || NULL_BODY.has(status)) {
    answer.resume();
    return new Response(null, init);
  }
  const body = unpack(answer, joined(headers, "content-encoding"));
  if (!/^application\/json\b/i.test(joined(headers, "content-type") ?? "")) {
    return new Response(toStream(body, signal), init);
  }
  const { whole, chunks } = await readStart(body);
  if (!whole) return new Response(toStream(Readable.from(following(chunks, body)), signal), init);
  const bytes = Buffer.concat(chunks);
  const others = headers.filter(([name]) => name !== "content-encoding" && name !== "content-length");
  return new WholeResponse(bytes, {
    ...init,
    headers: [...others, ["content-length", String(bytes.length)]],
  });
}

/** Reads the raw headers: the objects that Node makes of them cost more than the rest of a small answer. */
function headersOf({ rawHeaders }: IncomingMessage): [string, string][] {
  const headers: [string, string][] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.push([rawHeaders[at]!.toLowerCase(), rawHeaders[at + 1]!]);
  return headers;
}

function joined(headers: readonly [string, string][], wanted: string): string | undefined {
  const values = headers.filter(([name]) => name === wanted).map(([, value]) => value);
  return values.length > 0 ? values.join(", ") : undefined;
}

function unreached(host: string) {
  const advice = "Check that the host is up and its name is right.";
  const fills = { name: host, reason: "it could not be reached in time", advice };
  return problem("CALL_FAILED", fills, { network: "ETIMEDOUT" });
}

function unanswered(host: string) {
  const advice = "Check that the address belongs to an HTTP server.";
  return problem("CALL_FAILED", { name: host, reason: "it did not answer in HTTP", advice });
}

function unpack(answer: IncomingMessage, given: string | undefined): Readable {
  const encoding = given?.toLowerCase();
  if (encoding === undefined || encoding === "identity") return answer;
  const decoder = DECODERS.get(encoding)?.();
  if (!decoder) return answer;
  // The pipeline fails on an answer that breaks off, so a part is never taken for the whole.
  return pipeline(answer, decoder, () => {});
}

function toStream(body: Readable, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  if (signal) addAbortSignal(signal, body);
  return Readable.toWeb(body) as ReadableStream<Uint8Array>;
}

/** Reads the whole body, or stops as soon as it proves to be large. */
function readStart(body: Readable): Promise<{ whole: boolean; chunks: Buffer[] }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= WHOLE_BYTES) return;
      body.off("data", take).off("end", end).off("error", reject).pause();
      resolve({ whole: false, chunks });
    };
    const end = () => resolve({ whole: true, chunks });
    body.on("data", take).once("end", end).once("error", reject);
  });
}

async function* following(chunks: readonly Buffer[], rest: Readable): AsyncGenerator<Buffer> {
  yield* chunks;
  yield* rest;
}
