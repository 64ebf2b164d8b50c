import { isJsonContentType, readRequestBody } from "@modelcontextprotocol/server";
import { jsonRpcError } from "./json-rpc-error.ts";

const MAX_DEPTH = 64;

/** The JSON of a request, or the answer that refuses it: too large, too deep, or no JSON. */
export async function readBody(request: Request, maxBytes: number): Promise<{ body: unknown } | Response> {
  if (!isJsonContentType(request.headers.get("content-type"))) {
    return jsonRpcError(415, -32000, "Unsupported Media Type: Content-Type must be application/json");
  }
  const read = await readRequestBody(request, maxBytes);
  if (read.tooLarge) return jsonRpcError(413, -32000, `The body is larger than ${maxBytes} bytes.`);
  try {
    const body: unknown = JSON.parse(read.text);
    if (deeperThan(MAX_DEPTH, body)) {
      return jsonRpcError(400, -32600, `The body is nested deeper than ${MAX_DEPTH} levels.`);
    }
    return { body };
  } catch {
    return jsonRpcError(400, -32700, "Parse error: the body is not valid JSON.");
  }
}

/** Level by level, so that no depth can exhaust the stack. */
function deeperThan(depth: number, value: unknown): boolean {
  let level = [value];
  for (let reached = 0; level.length > 0; reached++) {
    if (reached > depth) return true;
    level = level
      .filter((item) => typeof item === "object" && item !== null)
      .flatMap((item) => Object.values(item as object));
  }
  return false;
}
