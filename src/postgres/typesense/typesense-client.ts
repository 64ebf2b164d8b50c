import { createGuardedFetch } from "../../base/net/guarded-fetch.ts";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import {
  askServer,
  type EngineAnswer,
  type EngineServer,
  unavailable,
} from "../../search/port/engine-request.ts";

/** Address and credentials of a Typesense server. */
export interface TypesenseOptions {
  /** The address of the server, such as `http://127.0.0.1:8108`. It may be private. */
  readonly url: string;
  readonly apiKey: string;
  /** Milliseconds for one request; a write gets ten times as many. Default: 5,000. */
  readonly timeoutMs?: number;
}

export interface TypesenseRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** The path from the root, with every part encoded. */
  readonly path: string;
  readonly body?: string;
  readonly isWrite?: boolean;
}

export type SendRequest = (request: TypesenseRequest) => Promise<EngineAnswer>;

const DEFAULT_TIMEOUT = 5_000;
const WRITE_FACTOR = 10;
const MAX_REASON = 200;
const MAX_ANSWER_BYTES = 16 * 2 ** 20;

/**
 * Creates the function that sends requests to one server. Only that server gets the key, in a header.
 *
 * @throws `INVALID_INPUT` if the URL is not http or https.
 */
export function createTypesenseClient(options: TypesenseOptions): SendRequest {
  const root = rootOf(options.url);
  const headers = { "X-TYPESENSE-API-KEY": options.apiKey, "Content-Type": "application/json" };
  const server: EngineServer = {
    name: "Typesense",
    guardedFetch: createGuardedFetch({ ownUrl: root, redirects: "none" }),
    maxBytes: MAX_ANSWER_BYTES,
    toReason: (error) => withoutKey(reasonOf(error), options.apiKey),
  };
  return ({ path, isWrite = false, ...request }) => {
    const timeout = (options.timeoutMs ?? DEFAULT_TIMEOUT) * (isWrite ? WRITE_FACTOR : 1);
    return askServer(server, `${root}${path}`, { ...request, headers }, timeout);
  };
}

/** Turns an unexpected answer into a problem that quotes a part of it, never the key. */
export function unexpected({ status, text }: Pick<EngineAnswer, "status" | "text">, apiKey: string): Problem {
  if (status === 401 || status === 403)
    return unavailable("Typesense", "needs_login", "it does not accept the API key");
  return unavailable("Typesense", "server_down", `status ${status}: ${withoutKey(text, apiKey)}`);
}

/** Cuts a text and removes the key. */
export function withoutKey(text: string, apiKey: string): string {
  return (apiKey === "" ? text : text.replaceAll(apiKey, "…")).slice(0, MAX_REASON);
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
