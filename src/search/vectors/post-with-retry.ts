import { setTimeout as sleep } from "node:timers/promises";
import type { GuardedFetch } from "../../net/guarded-fetch.ts";
import { readBytes } from "../../net/read-response.ts";
import { isProblem, type Problem, problem } from "../../schema/problem.ts";
import { parseRetryAfter } from "../../util/parse-retry-after.ts";

export interface PostRequest {
  /** Names the server in problems. */
  readonly name: string;
  readonly guardedFetch: GuardedFetch;
  readonly endpoint: URL;
  readonly apiKey: string | undefined;
  readonly body: string;
  readonly timeoutMs: number;
  readonly backoffMs: number;
}

const MAXIMUM_RETRIES = 3;
const LONGEST_WAIT_MS = 10_000;
const MAXIMUM_ANSWER_BYTES = 64 * 2 ** 20;
const LONGEST_REASON = 200;
/** This many characters of a key in a row count as a leak of it. */
const KEY_FRAGMENT = 4;

/** Posts JSON and returns parsed JSON. Retries only 429 and 5xx. Problems never hold the key. */
export async function postWithRetry(request: PostRequest): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    const { status, retryAfter, text } = await post(request);
    if (status >= 200 && status < 300) return parse(request, text);
    const isPassing = status === 429 || status >= 500;
    if (!isPassing || attempt === MAXIMUM_RETRIES) throw refusedBy(request, status, text);
    await sleep(waitBefore(attempt, retryAfter, request.backoffMs));
  }
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

async function post({ name, guardedFetch, endpoint, apiKey, body, timeoutMs }: PostRequest): Promise<Answer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await guardedFetch(endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body,
      signal,
    });
    const retryAfter = response.headers.get("retry-after");
    const bytes = await readBytes(response, name, MAXIMUM_ANSWER_BYTES);
    return { status: response.status, retryAfter, text: bytes.toString() };
  } catch (error) {
    if (isProblem(error) && error.code === "LIMIT_EXCEEDED") throw error;
    if (signal.aborted) throw problem("TIMEOUT", { name, ms: timeoutMs });
    throw unavailable(name, "server_down", `the request failed (${failureCode(error)}).`);
  }
}

function parse({ name }: PostRequest, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unavailable(name, "unusable_answer", "its answer is not JSON.");
  }
}

function refusedBy({ name, apiKey }: PostRequest, status: number, text: string): Problem {
  if (status === 401 || status === 403) {
    return unavailable(name, "needs_login", `it refused the API key (${status}).`);
  }
  const reason = reasonIn(text, apiKey);
  return unavailable(
    name,
    status === 429 ? "busy" : status >= 500 ? "server_down" : "refused",
    `it answered ${status}${reason === "" ? "" : `: ${reason}`}.`,
  );
}

/** Quotes the server in short, or not at all if it repeats a part of the key. */
function reasonIn(text: string, apiKey = ""): string {
  const said = /"(?:message|error)"\s*:\s*"([^"\\]{1,500})/.exec(text.slice(0, 5000))?.[1] ?? "";
  for (let start = 0; start + KEY_FRAGMENT <= apiKey.length; start++) {
    if (said.includes(apiKey.slice(start, start + KEY_FRAGMENT))) return "";
  }
  return said
    .replace(/\p{C}/gu, " ")
    .slice(0, LONGEST_REASON)
    .replace(/[.\s]+$/, "");
}

function waitBefore(attempt: number, retryAfter: string | null, backoffMs: number): number {
  const asked = parseRetryAfter(retryAfter, Date.now());
  const planned = backoffMs * 2 ** attempt * (1 + Math.random() / 4);
  return Math.min(asked ?? planned, LONGEST_WAIT_MS);
}

/** Only the code: messages of the network layer may quote headers. */
function failureCode(error: unknown): string {
  const code = isProblem(error) ? error.details.network : undefined;
  return typeof code === "string" && code !== "" ? code : "no connection";
}

function unavailable(name: string, state: string, reason: string): Problem {
  return problem("UNAVAILABLE", { name, state, reason });
}
