import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { RpcError } from "../schema/entry.ts";
import { isProblem } from "../schema/problem.ts";
import { cutText } from "../util/cut-text.ts";

/** The answer to a name that a list does not have. */
export function unknownName(kind: "tool" | "prompt" | "skill", name: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown ${kind}: ${cutText(name, 128)}`);
}

export function unknownResource(uri: string): ProtocolError {
  return new ResourceNotFoundError(cutText(uri, 512));
}

/** The same words that the SDK has for state that fails its check: the reason is nobody's business. */
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

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A failure where the protocol has no place for one in the result. */
export function failedRequest(failure: Failure): ProtocolError {
  const { code, message, next, details } = failure;
  const fault = code === "INTERNAL" || code === "RESULT_INVALID" || code === "TIMEOUT";
  const protocolCode = fault ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(protocolCode, `${message} ${next}`, { code, next, details });
}

/** An error of another server, as it gave it. */
export function passedError({ code, message, data }: RpcError): ProtocolError {
  return new ProtocolError(code, message, data);
}

/** Problems raised outside of an answer keep their code on the wire. */
export function asProtocolError(error: unknown): unknown {
  return isProblem(error) ? failedRequest(error) : error;
}
