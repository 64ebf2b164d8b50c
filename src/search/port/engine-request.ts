import type { GuardedFetch } from "../../base/net/guarded-fetch.ts";
import { readBytes } from "../../base/net/read-response.ts";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";

/** A server that an engine or embedder calls. */
export interface EngineServer {
  /** Names the server in problems. */
  readonly name: string;
  readonly guardedFetch: GuardedFetch;
  readonly maxBytes: number;
  /** The part of a failure that callers may read: messages of the network layer may quote headers. */
  toReason(error: unknown): string;
}

export interface EngineAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

/** Sends one request. Returns every status. Throws TIMEOUT, LIMIT_EXCEEDED or UNAVAILABLE. */
export async function askServer(
  { name, guardedFetch, maxBytes, toReason }: EngineServer,
  url: URL | string,
  request: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
  timeoutMs: number,
): Promise<EngineAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await guardedFetch(url, { ...request, signal });
    const bytes = await readBytes(response, name, maxBytes);
    const retryAfter = response.headers.get("retry-after");
    return { status: response.status, text: bytes.toString(), retryAfter };
  } catch (error) {
    if (isProblem(error) && error.code === "LIMIT_EXCEEDED") throw error;
    if (signal.aborted) throw problem("TIMEOUT", { name, ms: timeoutMs });
    throw unavailable(name, "server_down", toReason(error));
  }
}

export function unavailable(name: string, state: string, reason: string): Problem {
  return problem("UNAVAILABLE", { name, state, reason });
}
