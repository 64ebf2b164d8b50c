import type { IncomingMessage, ServerResponse } from "node:http";
import { isJsonContentType, readRequestBody } from "@modelcontextprotocol/server";
import { createByteGatherer } from "../../base/net/read-response.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { field } from "../../base/util/plain-object.ts";
import { type ArgumentHeader, readArgumentHeaders } from "../../core/nouns/argument-headers.ts";
import type { Entry } from "../../core/nouns/entry.ts";
import { jsonRpcError } from "./protocol-errors.ts";

const CODE = -32_020;
const BASE64 = /^=\?base64\?(.*)\?=$/s;
const DECIMAL = /^-?\d{1,32}(?:\.\d{1,32})?$/;

/** Refuses a request whose header names another method than its body, because limits go by the header. */
export function methodMismatch(body: unknown, headers: Headers): Response | undefined {
  const method = headers.get("mcp-method");
  if (method === null || method === field(body, "method")) return undefined;
  return refuse(body, "Mcp-Method", "it names another method");
}

/**
 * Refuses a call whose headers do not repeat its arguments as the tool's schema demands. A proxy that routes by the
 * headers and the server that runs the body must see the same call.
 */
export function headerMismatch(
  body: unknown,
  headers: Headers,
  tools: ReadonlyMap<string, Entry>,
): Response | undefined {
  if (field(body, "method") !== "tools/call") return undefined;
  const params = field(body, "params");
  const entry = tools.get(String(field(params, "name")));
  for (const { name, path, type } of entry ? headersOf(entry.inputSchema) : []) {
    const value = path.reduce(field, field(params, "arguments"));
    if (!["string", "number", "boolean"].includes(typeof value)) continue;
    const header = `Mcp-Param-${name}`;
    const given = headers.get(header);
    if (given === null) return refuse(body, header, "it is missing, but the argument is present");
    const said = decode(given);
    if (said === undefined) return refuse(body, header, "it is not Base64 of UTF-8");
    const isSame = type === "integer" && DECIMAL.test(said) ? Number(said) === value : said === String(value);
    if (!isSame) return refuse(body, header, "it differs from the argument");
  }
  return undefined;
}

/** Whether a tool wants arguments repeated in headers. */
export function wantsHeaders(entry: Entry): boolean {
  return headersOf(entry.inputSchema).length > 0;
}

const headersOf = memoizeByObject((schema: object): readonly ArgumentHeader[] => {
  const read = readArgumentHeaders(schema);
  // Clients drop a tool that declares its headers wrongly, so there is nothing to compare.
  return read.ok ? read.headers : [];
});

/** Decodes Base64, which carries values that a header cannot hold. */
function decode(given: string): string | undefined {
  const encoded = BASE64.exec(given)?.[1];
  if (encoded === undefined) return given;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refuse(body: unknown, header: string, reason: string): Response {
  const message = `The header ${header} does not match the body: ${reason}.`;
  const id = field(body, "id") ?? null;
  return Response.json(
    { jsonrpc: "2.0", id, error: { code: CODE, message, data: { header } } },
    { status: 400 },
  );
}

const MAX_DEPTH = 64;

/** Reads the JSON of a request, or returns the refusal: too large, too deep, or not JSON. */
export async function readBody(
  request: Request,
  maxBytes: number,
  known: string | undefined,
): Promise<{ body: unknown } | Response> {
  if (!isJsonContentType(request.headers.get("content-type"))) {
    return jsonRpcError(415, -32000, "Unsupported Media Type: Content-Type must be application/json");
  }
  if (known !== undefined) return parseBody(known);
  const read = await readRequestBody(request, maxBytes);
  return read.tooLarge ? tooLarge(maxBytes) : parseBody(read.text);
}

/** Parses the JSON of a request, or returns the refusal. */
function parseBody(text: string): { body: unknown } | Response {
  try {
    const body: unknown = JSON.parse(text);
    if (isDeeperThan(MAX_DEPTH, body)) {
      return jsonRpcError(400, -32600, `The body is nested deeper than ${MAX_DEPTH} levels.`);
    }
    return { body };
  } catch {
    return jsonRpcError(400, -32700, "Parse error: the body is not valid JSON.");
  }
}

/** The refusal of a body over the limit. */
export function tooLarge(maxBytes: number): Response {
  return jsonRpcError(413, -32000, `The body is larger than ${maxBytes} bytes.`);
}

/** Stops at the limit itself, so no body can exhaust the stack. */
function isDeeperThan(depth: number, value: unknown): boolean {
  if (depth < 0) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((item) => isDeeperThan(depth - 1, item));
}

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
  answer: Response,
  isLast: boolean,
): Promise<void> {
  const cookies = answer.headers.getSetCookie();
  const headers = {
    ...Object.fromEntries(answer.headers),
    ...(cookies.length > 0 && { "set-cookie": cookies }),
    ...(isLast && { connection: "close" }),
  };
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (answer.body !== null && isStream) {
    // A client learns that the stream is open before there is news.
    response.writeHead(answer.status, headers).flushHeaders();
    return writeStream(response, answer.body);
  }
  const text = await answer.text();
  response.writeHead(answer.status, { ...headers, "content-length": Buffer.byteLength(text) }).end(text);
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
