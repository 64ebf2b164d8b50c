import { isJsonContentType, readRequestBody } from "@modelcontextprotocol/server";
import { jsonRpcError } from "./json-rpc-error.ts";

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
  const read =
    known === undefined
      ? await readRequestBody(request, maxBytes)
      : { tooLarge: false as const, text: known };
  return read.tooLarge ? tooLarge(maxBytes) : parseBody(read.text);
}

/** Parses the JSON of a request, or returns the refusal. */
export function parseBody(text: string): { body: unknown } | Response {
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
