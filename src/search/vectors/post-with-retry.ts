import { setTimeout as sleep } from "node:timers/promises";
import { isProblem, type Problem, problem } from "../../schema/problem.ts";
import { parseRetryAfter } from "../../util/parse-retry-after.ts";

export interface PostRequest {
  /** How problems call the server. */
  readonly name: string;
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
/** So many characters of a key in a row are taken for a leak of it. */
const KEY_FRAGMENT = 4;

/** Posts JSON and answers parsed JSON. Only 429 and 5xx are tried again; problems never hold the key. */
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

async function post({ name, endpoint, apiKey, body, timeoutMs }: PostRequest): Promise<Answer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body,
      signal,
      // A redirect could carry the key to another host.
      redirect: "manual",
    });
    const retryAfter = response.headers.get("retry-after");
    return { status: response.status, retryAfter, text: await readText(name, response) };
  } catch (error) {
    if (isProblem(error)) throw error;
    if (signal.aborted) throw problem("TIMEOUT", { name, ms: timeoutMs });
    throw unavailable(name, "server_down", `the request failed (${failureCode(error)}).`);
  }
}

async function readText(name: string, response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAXIMUM_ANSWER_BYTES) {
      throw problem("LIMIT_EXCEEDED", {
        what: `The answer of ${name}`,
        actual: `over ${MAXIMUM_ANSWER_BYTES} bytes`,
        limit: MAXIMUM_ANSWER_BYTES,
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
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

/** What the server says, shortened; nothing if it repeats a part of the key. */
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
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "no connection";
}

function unavailable(name: string, state: string, reason: string): Problem {
  return problem("UNAVAILABLE", { name, state, reason });
}
