import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { isProblem, type Problem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { RpcError } from "../../core/nouns/entry.ts";
import { detailsJson } from "../../core/operations/error-answer.ts";

/** The error for a name that is not listed. */
export function unknownName(kind: "tool" | "prompt" | "skill" | "task", name: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown ${kind}: ${toVisibleText(name, 128)}`);
}

/** The error for a task that cannot be started, read or ended as asked. */
export function refusedTask(
  reason: string,
  code: ProtocolErrorCode = ProtocolErrorCode.InvalidParams,
): ProtocolError {
  return new ProtocolError(code, toVisibleText(reason, 512));
}

export function unknownResource(uri: string): ProtocolError {
  return new ResourceNotFoundError(cutText(uri, 512));
}

/** Uses the words of the SDK for state that fails its check; the reason stays secret. */
export function refusedState(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", {
    reason: "invalid_request_state",
  });
}

export function refusedCursor(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "Unknown or outdated cursor: list from the start",
  );
}

/** Turns a failure into a protocol error, for results that cannot carry one. */
export function failedRequest({
  code,
  message,
  next,
  details,
}: Pick<Problem, "message" | "next" | "details"> & { readonly code: string }): ProtocolError {
  const fault = code === "INTERNAL" || code === "RESULT_INVALID" || code === "TIMEOUT";
  const protocolCode = fault ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(protocolCode, `${message} ${next}`, { code, next, details: detailsJson(details) });
}

/** Passes on the error of another server, with its message made visible. */
export function passedError({ code, message, data }: RpcError): ProtocolError {
  return new ProtocolError(code, toVisibleText(message), data);
}

/**
 * The refusal of a caller whom another login would not help, so it is no challenge.
 *
 * @throws every error that is no problem.
 */
export function refusedCaller(error: unknown): Response {
  if (!isProblem(error)) throw error;
  return jsonRpcError(403, -32000, toVisibleText(`${error.message} ${error.next}`));
}

/** Keeps the code of a problem on the wire; returns other errors unchanged. */
export function asProtocolError(error: unknown): unknown {
  return isProblem(error) ? failedRequest(error) : error;
}

/** Returns an HTTP error whose body is a JSON-RPC error, for clients that read nothing else. */
export function jsonRpcError(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status, headers });
}
