import { lookup as systemLookup } from "node:dns";
import { Agent, type ClientRequest, type IncomingMessage, request as openHttp } from "node:http";
import { request as openHttps, Agent as TlsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import { addAbortSignal, pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { problem } from "../problems/problem.ts";
import { isCut } from "./status-problem.ts";
import { WholeResponse } from "./whole-response.ts";

/** Sends requests over reused connections. Checks only addresses. */
export interface Dialler {
  send(url: URL, request: GuardedRequest): Promise<Response>;
  close(): void;
}

type Sent = GuardedRequest & { readonly method: string };

const CONNECT_MS = 10_000;
/** Shorter than the idle time of most servers, so that a request rarely meets a closing connection. */
const IDLE_MS = 4_000;
/** JSON answers up to this size are read whole, because a stream would cost more than its content. */
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
    send: async (url, request) => {
      const { method = "GET", headers, body, signal } = request;
      signal?.throwIfAborted();
      const options = {
        ...addressOf(url),
        method,
        headers: {
          ...DEFAULTS,
          ...headers,
          ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
        },
      };
      const open = () => {
        const opened =
          url.protocol === "https:"
            ? limitConnecting(openHttps({ ...options, agent: secure }), "secureConnect")
            : limitConnecting(openHttp({ ...options, agent: plain }), "connect");
        return signal ? endWith(signal, opened) : opened;
      };
      const { response } = await ask(open, { ...request, method });
      return response;
    },
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** Passes the parts of an address: given a URL, Node copies ten more fields for every request. */
function addressOf({ hostname, port, pathname, search }: URL) {
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return { host, port, path: `${pathname}${search}` };
}

/** Limits the time until TLS is established, because a host may accept a connection and then stay silent. */
function limitConnecting(request: ClientRequest, connected: "connect" | "secureConnect"): ClientRequest {
  return request.once("socket", (socket) => {
    if (request.reusedSocket) return;
    const timer = setTimeout(() => request.destroy(unreached(request.host)), CONNECT_MS);
    const stop = () => clearTimeout(timer);
    socket.once(connected, stop).once("close", stop);
  });
}

/** Node's own `signal` option does the same with a dozen listeners for each request. */
function endWith(signal: AbortSignal, request: ClientRequest): ClientRequest {
  const end = () => request.destroy(new Error("The request was cancelled", { cause: signal.reason }));
  if (signal.aborted) return end();
  signal.addEventListener("abort", end);
  return request.once("close", () => signal.removeEventListener("abort", end));
}

/** Waits for the headers of the answer. Repeats a safe request if the host closed its reused connection. */
async function ask(open: () => ClientRequest, sent: Sent): Promise<{ readonly response: Promise<Response> }> {
  const request = open();
  try {
    return await new Promise((resolve, reject) => {
      let answered = false;
      // Read at once: an unread body is buffered and resumed one turn later.
      request.once("response", (answer) => {
        answered = true;
        resolve({ response: read(answer, sent) });
      });
      // Keep listening after the headers: the reader of the body gets these errors.
      request.on("error", reject);
      // Non-HTTP replies close without an error.
      request.once("close", () => answered || reject(unanswered(request.host)));
      request.end(sent.body);
    });
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (!SAFE.has(sent.method) || !request.reusedSocket || !isCut(code)) throw error;
    return ask(open, sent);
  }
}

async function read(answer: IncomingMessage, sent: Sent): Promise<Response> {
  try {
    return await toResponse(answer, sent);
  } catch (error) {
    answer.destroy();
    throw error;
  }
}

async function toResponse(answer: IncomingMessage, { method, signal }: Sent): Promise<Response> {
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = answer;
  const init = { status, statusText };
  if (method === "HEAD" || NULL_BODY.has(status)) {
    answer.resume();
    return new Response(null, { ...init, headers: headersOf(rawHeaders) });
  }
  const body = unpack(answer, joined(rawHeaders, "content-encoding"));
  if (!/^application\/json\b/i.test(joined(rawHeaders, "content-type") ?? "")) {
    return new Response(toStream(body, signal), { ...init, headers: headersOf(rawHeaders) });
  }
  const { whole, chunks } = await readStart(body);
  if (!whole) {
    const all = Readable.from(following(chunks, body));
    return new Response(toStream(all, signal), { ...init, headers: headersOf(rawHeaders) });
  }
  const bytes = Buffer.concat(chunks);
  return new WholeResponse(bytes, { ...init, headers: () => wholeHeaders(rawHeaders, bytes.length) });
}

/** Reads raw headers: Node's header objects cost more than all other parts of a small answer. */
function headersOf(raw: readonly string[]): [string, string][] {
  const headers: [string, string][] = [];
  for (let at = 0; at < raw.length; at += 2) headers.push([raw[at]!.toLowerCase(), raw[at + 1]!]);
  return headers;
}

/** The headers of an answer that was decoded and read whole. */
function wholeHeaders(raw: readonly string[], length: number): [string, string][] {
  const others = headersOf(raw).filter(([name]) => name !== "content-encoding" && name !== "content-length");
  return [...others, ["content-length", String(length)]];
}

function joined(raw: readonly string[], header: string): string | undefined {
  const values = raw.filter((_, at) => at % 2 === 1 && raw[at - 1]!.toLowerCase() === header);
  return values.length === 0 ? undefined : values.join(", ");
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

function unpack(answer: IncomingMessage, encoding: string | undefined): Readable {
  const decoder = encoding === undefined ? undefined : DECODERS.get(encoding.toLowerCase())?.();
  if (!decoder) return answer;
  // The pipeline fails on a truncated answer, so a part is never taken for the whole.
  return pipeline(answer, decoder, () => {});
}

function toStream(body: Readable, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  if (signal) addAbortSignal(signal, body);
  return Readable.toWeb(body) as ReadableStream<Uint8Array>;
}

/** Reads the whole body, or stops when it proves to be large. */
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

async function* following(chunks: readonly Buffer[], remaining: Readable): AsyncGenerator<Buffer> {
  yield* chunks;
  yield* remaining;
}

/** A request of a guarded fetch. */
export interface GuardedRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
}

/**
 * Wraps a lookup so that the dialler gets only checked addresses. The checked address is the dialled one, so a name
 * that resolves differently a moment later gains nothing.
 */
export function guardedLookup(
  refusalOf: (address: string) => string | undefined,
  lookup: LookupFunction = systemLookup as LookupFunction,
): LookupFunction {
  return (host, options, done) => {
    lookup(host, options, (error, addresses, family) => {
      if (error) return done(error, addresses, family);
      const all = typeof addresses === "string" ? [addresses] : addresses.map(({ address }) => address);
      const refused = all.find((address) => refusalOf(address) !== undefined);
      if (refused === undefined) return done(null, addresses, family);
      const reason = `its address ${refused} ${refusalOf(refused)}`;
      done(problem("REQUEST_REFUSED", { where: host, reason }), addresses, family);
    });
  };
}
