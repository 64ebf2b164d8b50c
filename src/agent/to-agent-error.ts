import { reasonOf } from "../util/reason-of.ts";
import { createRedact } from "../util/redact.ts";

/** What went wrong, for a reader who must act. */
export interface AgentError {
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

const NEXT = new Map([
  ["PROVIDER_NOT_CONFIGURED", "Complete the provider's part of the settings, as the message says."],
  ["PROVIDER_NOT_SUPPORTED", "Name one of the providers that there are."],
  ["AUTHENTICATION_ERROR", "Check the provider's key or login."],
  ["RATE_LIMITED", "Wait a little, then ask again; the conversation is kept."],
  ["MODEL_NOT_FOUND", "Name a model that the provider has."],
  ["CONTEXT_LENGTH_EXCEEDED", "Start a new conversation, or ask for less at once."],
  [
    "NETWORK_ERROR",
    "Check the connection and the provider's address, then ask again; the conversation is kept.",
  ],
  ["TIMEOUT", "Ask again; the conversation is kept."],
  ["INVALID_RESPONSE", "Ask again; if it stays, try another model."],
]);
const UNKNOWN_NEXT = "Ask again; if it stays, report the message.";
const redact = createRedact([], { kinds: true });
const MAX_CHARS = 2_000;

/** Whatever was thrown or answered in the place of an answer, as code, message and next step. */
export function toAgentError(error: unknown): AgentError {
  const { code, message, next } = read(error);
  const text = redact(message).slice(0, MAX_CHARS);
  return { code, message: text, next: next ?? NEXT.get(code) ?? UNKNOWN_NEXT };
}

interface Thrown {
  readonly code?: unknown;
  readonly error?: unknown;
  readonly message?: unknown;
  readonly next?: unknown;
  readonly details?: { readonly code?: unknown };
  readonly statusCode?: unknown;
  readonly lastError?: unknown;
  readonly cause?: unknown;
}

function read(error: unknown): { code: string; message: string; next?: string } {
  if (typeof error !== "object" || error === null) return { code: "UNKNOWN", message: reasonOf(error) };
  const thrown = error as Thrown;
  // The AI SDK wraps what it has tried several times.
  if (thrown.lastError !== undefined) return read(thrown.lastError);
  const message = String(thrown.message ?? reasonOf(error));
  const own = thrown.details?.code;
  // A problem of the model layer has the code of the failure in its details, and no next step for that one.
  if (typeof own === "string") return { code: own, message };
  if (typeof thrown.statusCode === "number") return { code: byStatus(thrown.statusCode, message), message };
  if (typeof thrown.code === "string") {
    const code = /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(thrown.code) ? "NETWORK_ERROR" : thrown.code;
    return { code, message, ...(typeof thrown.next === "string" && { next: thrown.next }) };
  }
  if (typeof thrown.error === "string") return { code: thrown.error, message };
  if (error instanceof DOMException && error.name === "TimeoutError") return { code: "TIMEOUT", message };
  if (isNetwork(thrown)) return { code: "NETWORK_ERROR", message };
  return { code: "UNKNOWN", message };
}

function byStatus(status: number, message: string): string {
  if (status === 401 || status === 403) return "AUTHENTICATION_ERROR";
  if (status === 404) return "MODEL_NOT_FOUND";
  if (status === 408 || status === 504) return "TIMEOUT";
  if (status === 429) return "RATE_LIMITED";
  if (status === 413 || /context.{0,20}(?:length|window)|too many tokens/i.test(message))
    return "CONTEXT_LENGTH_EXCEEDED";
  return status >= 500 ? "NETWORK_ERROR" : "INVALID_RESPONSE";
}

function isNetwork({ message, cause }: Thrown): boolean {
  const code = (cause as Thrown | undefined)?.code;
  return typeof code === "string" || /fetch failed|terminated|socket/i.test(String(message));
}
