import { type Problem, problem } from "../../schema/problem.ts";
import { reasonOf } from "../../util/reason-of.ts";

export interface TypesenseOptions {
  /** Where the server is, such as `http://127.0.0.1:8108`. */
  readonly url: string;
  readonly apiKey: string;
  /** For tests and proxies; the platform's own otherwise. */
  readonly fetch?: typeof fetch;
  /** For one request; writing takes up to ten times as long. */
  readonly timeoutMs?: number;
}

export interface TypesenseAnswer {
  readonly status: number;
  readonly text: string;
}

export interface TypesenseRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** From the root, with every part encoded. */
  readonly path: string;
  readonly body?: string;
  readonly isWrite?: boolean;
}

export type SendRequest = (request: TypesenseRequest) => Promise<TypesenseAnswer>;

const DEFAULT_TIMEOUT = 5_000;
const WRITE_FACTOR = 10;
const MAX_REASON = 200;

/** Sends requests to one server. The key goes out in a header only, to that server only. */
export function createTypesenseClient(options: TypesenseOptions): SendRequest {
  const root = rootOf(options.url);
  const send = options.fetch ?? fetch;
  return async ({ method, path, body, isWrite = false }) => {
    const timeout = (options.timeoutMs ?? DEFAULT_TIMEOUT) * (isWrite ? WRITE_FACTOR : 1);
    try {
      const response = await send(`${root}${path}`, {
        method,
        headers: { "X-TYPESENSE-API-KEY": options.apiKey, "Content-Type": "application/json" },
        redirect: "error",
        signal: AbortSignal.timeout(timeout),
        ...(body !== undefined && { body }),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      if (error instanceof Error && error.name === "TimeoutError") {
        throw problem("TIMEOUT", { name: "Typesense", ms: timeout });
      }
      throw unavailable("server_down", causeOf(error, options.apiKey));
    }
  };
}

/** The problem of an answer that was not expected. What the server says is cut and never shows the key. */
export function unexpected({ status, text }: TypesenseAnswer, apiKey: string): Problem {
  if (status === 401 || status === 403) return unavailable("needs_login", "it does not accept the API key");
  return unavailable("server_down", `status ${status}: ${withoutKey(text, apiKey)}`);
}

export function withoutKey(text: string, apiKey: string): string {
  return (apiKey === "" ? text : text.replaceAll(apiKey, "…")).slice(0, MAX_REASON);
}

function unavailable(state: string, reason: string): Problem {
  return problem("UNAVAILABLE", { name: "Typesense", state, reason });
}

function causeOf(error: unknown, apiKey: string): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return withoutKey(reasonOf(cause), apiKey);
}

function rootOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === "http:" || parsed?.protocol === "https:") {
    return `${parsed.origin}${parsed.pathname.replace(/\/$/, "")}`;
  }
  throw problem("INVALID_INPUT", {
    operation: "createTypesenseIndex",
    reason: "`url` must be http or https",
  });
}
