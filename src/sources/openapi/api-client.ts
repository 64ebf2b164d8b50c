import type { GuardedFetch } from "../../base/net/guarded-fetch.ts";
import { readBytes, readValue } from "../../base/net/read-response.ts";
import { statusProblem } from "../../base/net/status-problem.ts";
import { isProblem, problem } from "../../base/problems/problem.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { CallContext } from "../../core/nouns/entry.ts";
import { type ApiRequest, buildRequest, percentEncode } from "./build-request.ts";
import type { CredentialSource, Credentials } from "./credentials.ts";
import type { ApiArgs, OperationPlan } from "./operation-plan.ts";

export interface ApiClientOptions {
  readonly base: URL;
  readonly guardedFetch: GuardedFetch;
  readonly credentials: CredentialSource;
  /** Headers of every call, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Calls the operations of one API. */
export type ApiClient = ReturnType<typeof createApiClient>;

const SHOWN_BODY_CHARS = 4_000;
const SECRET_HEADER = /auth|key|token|secret|cookie|password|session/;

/** Creates a client that calls an API under one base URL. */
export function createApiClient(options: ApiClientOptions) {
  const { base, guardedFetch, credentials, headers, timeoutMs } = options;
  const ownSecrets = Object.entries(headers)
    .filter(([name]) => SECRET_HEADER.test(name))
    .flatMap(([, value]) => [value, value.replace(/^(?:Bearer|Basic|Token) /i, "")]);

  async function send(
    request: ApiRequest,
    op: string,
    signal: AbortSignal,
    mayRetry: boolean,
  ): Promise<unknown> {
    const carried = await credentials.get(signal);
    const redact = createRedact([...ownSecrets, ...carried.secrets]);
    try {
      const response = await guardedFetch(...toFetch(request, headers, carried, signal));
      const bytes = await readBytes(response, op);
      // A refused token means that nothing ran: renew it and retry once.
      if (response.status === 401 && mayRetry && credentials.forget())
        return send(request, op, signal, false);
      const value = redact(readValue(response, bytes));
      if (response.status >= 400) throw statusProblem(op, response, value);
      return bytes.length > 0 ? value : redact(emptyAnswer(request, response));
    } catch (error) {
      if (isProblem(error)) throw error;
      signal.throwIfAborted();
      throw brokenOff(op, redact(reasonOf(error)));
    }
  }

  return {
    /**
     * Runs an operation. No problem that it throws reveals a secret.
     *
     * @throws `CALL_FAILED`, `TIMEOUT`, `CANCELLED`, or the problem for the API's status
     */
    call: async (plan: OperationPlan, op: string, args: ApiArgs, context: Pick<CallContext, "signal">) => {
      const request = buildRequest(plan, args, base, op);
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        return await send(request, op, AbortSignal.any([context.signal, deadline]), true);
      } catch (error) {
        if (isProblem(error)) throw error;
        if (context.signal.aborted) throw problem("CANCELLED", { name: op });
        if (deadline.aborted) throw problem("TIMEOUT", { name: op, ms: timeoutMs });
        throw brokenOff(op, "it ended without an answer");
      }
    },
    /** Shows the request of a call, without credentials. */
    preview: (plan: OperationPlan, op: string, args: ApiArgs) => {
      const { method, url, headers: own, body } = buildRequest(plan, args, base, op);
      const shown =
        body instanceof Uint8Array ? `(${body.length} bytes)` : body && cutText(body, SHOWN_BODY_CHARS);
      return {
        would_send: { method, url: url.href, headers: own, ...(shown !== undefined && { body: shown }) },
      };
    },
  };
}

function toFetch(
  request: ApiRequest,
  ownHeaders: Readonly<Record<string, string>>,
  carried: Credentials,
  signal: AbortSignal,
): Parameters<GuardedFetch> {
  const url = new URL(request.url);
  const filled = new Set(carried.query.map(([name]) => percentEncode(name)));
  const pairs = url.search
    .slice(1)
    .split("&")
    .filter((pair) => pair !== "" && !filled.has(pair.split("=", 1)[0]!));
  const query = [...pairs, ...carried.query.map(encodedPair)];
  url.search = query.join("&");
  const cookies = [...request.cookies, ...carried.cookies.map(encodedPair)];
  const headers = {
    accept: "application/json, */*;q=0.5",
    "user-agent": "keyhole",
    ...request.headers,
    ...ownHeaders,
    ...(cookies.length > 0 && { cookie: cookies.join("; ") }),
    ...carried.headers,
  };
  const { method, body } = request;
  return [url, { method, headers, signal, ...(body !== undefined && { body }) }];
}

function encodedPair([name, value]: readonly [string, string]): string {
  return `${percentEncode(name)}=${percentEncode(value)}`;
}

function emptyAnswer({ method }: ApiRequest, response: Response): unknown {
  const headers = method === "HEAD" ? { headers: Object.fromEntries(response.headers) } : {};
  return { status: response.status, ...headers };
}

function brokenOff(op: string, reason: string) {
  const advice = "Try a read again; repeat a write only after reading whether it took effect.";
  return problem("CALL_FAILED", { name: op, reason, advice });
}
