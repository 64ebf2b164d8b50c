import { setTimeout as sleep } from "node:timers/promises";
import { createGuardedFetch } from "../../base/net/guarded-fetch.ts";
import { parseRetryAfter } from "../../base/net/status-problem.ts";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { askServer, type EngineServer, unavailable } from "../port/engine-request.ts";
import { type Embedder, normalize } from "./embedder.ts";

/** Options of {@link createHttpEmbedder}. */
export interface HttpEmbedderOptions {
  readonly kind: HttpEmbedderKind;
  /** Address of the server, with or without the path of its embeddings endpoint. */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string;
  /** If set, requested from the server and checked; otherwise taken from the first answer. */
  readonly dimensions?: number;
  /** Texts per request. Default: 64. */
  readonly batchSize?: number;
  /** Milliseconds for each request. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Wait before the first retry, which doubles each time. Default: 250. */
  readonly backoffMs?: number;
}

const BATCH_SIZE = 64;
const TIMEOUT_MS = 30_000;
const BACKOFF_MS = 250;
/** Below the 8,192 tokens that common models accept, in any script. */
const MAXIMUM_CHARACTERS = 8000;
/** Sent instead of an empty text, which servers refuse. Its vector is not used. */
const PLACEHOLDER = ".";

/**
 * Creates an embedder at an OpenAI-compatible or Ollama endpoint. `dimensions` is 0 until it is known. See {@link
 * createCachedEmbedder}.
 *
 * @throws INVALID_INPUT for an address that is not a URL
 * @example
 * ```ts no-run
 * import { createHttpEmbedder } from "keyhole/search";
 *
 * const embedder = createHttpEmbedder({ kind: "ollama", url: "http://localhost:11434", model: "nomic-embed-text" });
 * console.log(await embedder.embed(["refund"]));
 * ```
 */
export function createHttpEmbedder(options: HttpEmbedderOptions): Embedder {
  const { kind, model, apiKey, batchSize = BATCH_SIZE } = options;
  const endpoint = endpointOf(kind, options.url);
  const name = `The embeddings endpoint at ${endpoint.host}`;
  const server: EngineServer = {
    name,
    // A redirect could carry the key to another host, so none is followed.
    guardedFetch: createGuardedFetch({ ownUrl: endpoint, redirects: "none" }),
    maxBytes: MAXIMUM_ANSWER_BYTES,
    toReason: (error) => `the request failed (${failureCode(error)}).`,
  };
  let dimensions = options.dimensions ?? 0;

  async function embedBatch(texts: readonly string[]): Promise<Float32Array[]> {
    const inputs = texts.map((text) => text.slice(0, MAXIMUM_CHARACTERS).trim() || PLACEHOLDER);
    const answer = await postWithRetry({
      server,
      endpoint,
      apiKey,
      body: requestBody(kind, model, inputs, options.dimensions),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      backoffMs: options.backoffMs ?? BACKOFF_MS,
    });
    const vectors = readVectors(kind, answer, texts.length);
    if (typeof vectors === "string") throw unusable(vectors);
    for (const [index, vector] of vectors.entries()) {
      if (dimensions === 0) dimensions = vector.length;
      if (vector.length !== dimensions) {
        throw unusable(`its vectors have ${vector.length} dimensions where ${dimensions} were expected`);
      }
      if (texts[index]!.trim() === "") vector.fill(0);
      normalize(vector);
    }
    return vectors;
  }

  function unusable(reason: string): Problem {
    return unavailable(name, "unusable_answer", `${reason}.`);
  }

  return {
    id: `${kind}:${endpoint.host}/${model}@${options.dimensions ?? "default"}`,
    get dimensions() {
      return dimensions;
    },
    async embed(texts) {
      const vectors: Float32Array[] = [];
      const step = Math.max(1, batchSize);
      for (let start = 0; start < texts.length; start += step) {
        vectors.push(...(await embedBatch(texts.slice(start, start + step))));
      }
      return vectors;
    },
  };
}

type HttpEmbedderKind = "openai" | "ollama";

const PATHS = { openai: ["/v1", "/embeddings"], ollama: ["/api", "/embed"] } as const;

/** The address for requests: `https://host`, `https://host/v1` and the full path lead to the same. */
function endpointOf(kind: HttpEmbedderKind, address: string): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw refused("its url must be an http or https address");
  }
  if (url.username !== "" || url.password !== "") {
    throw refused("its url must not hold a user name or password; use apiKey");
  }
  const path = url.pathname.replace(/\/$/, "");
  const [first, last] = PATHS[kind];
  if (path.endsWith(last)) url.pathname = path;
  else url.pathname = path.endsWith(first) ? `${path}${last}` : `${path}${first}${last}`;
  return url;
}

function requestBody(
  kind: HttpEmbedderKind,
  model: string,
  input: readonly string[],
  dimensions: number | undefined,
): string {
  const format = kind === "openai" ? { encoding_format: "float" } : { truncate: true };
  return JSON.stringify({ model, input, ...format, ...(dimensions === undefined ? {} : { dimensions }) });
}

/** The vectors in the order of the texts, or an error in the answer. */
function readVectors(kind: HttpEmbedderKind, answer: unknown, count: number): Float32Array[] | string {
  const rows = kind === "openai" ? openAiRows(answer) : field(answer, "embeddings");
  if (!Array.isArray(rows)) return "its answer has no embeddings";
  if (rows.length !== count) return `it answered ${rows.length} vectors for ${count} texts`;
  const vectors: Float32Array[] = [];
  for (const row of rows) {
    if (!Array.isArray(row) || row.length === 0) return "one of its vectors is missing or empty";
    const vector = Float32Array.from(row, (value) => (typeof value === "number" ? value : Number.NaN));
    if (!vector.every(Number.isFinite)) return "one of its vectors holds something that is not a number";
    vectors.push(vector);
  }
  return vectors;
}

/** Items have an index, because servers may return another order. */
function openAiRows(answer: unknown): unknown[] | undefined {
  const items = field(answer, "data");
  if (!Array.isArray(items)) return undefined;
  const rows = Array.from<unknown>({ length: items.length });
  for (const [place, item] of items.entries()) {
    const index = field(item, "index") ?? place;
    if (typeof index === "number" && index in rows) rows[index] = field(item, "embedding");
  }
  return rows;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function refused(reason: string): Problem {
  return problem("INVALID_INPUT", { operation: "the HTTP embedder", reason });
}

interface PostRequest {
  readonly server: EngineServer;
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
/** This many consecutive characters of a key count as a leak. */
const KEY_FRAGMENT = 4;

/** Posts JSON and returns parsed JSON. Retries only 429 and 5xx. Problems never contain the key. */
async function postWithRetry(request: PostRequest): Promise<unknown> {
  const { server, endpoint, apiKey, body, timeoutMs } = request;
  const headers = {
    "content-type": "application/json",
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  for (let attempt = 0; ; attempt++) {
    const post = { method: "POST", headers, body };
    const { status, retryAfter, text } = await askServer(server, endpoint, post, timeoutMs);
    if (status >= 200 && status < 300) return parse(request, text);
    const isPassing = status === 429 || status >= 500;
    if (!isPassing || attempt === MAXIMUM_RETRIES) throw refusedBy(request, status, text);
    await sleep(waitBefore(attempt, retryAfter, request.backoffMs));
  }
}

function parse({ server: { name } }: PostRequest, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unavailable(name, "unusable_answer", "its answer is not JSON.");
  }
}

function refusedBy({ server: { name }, apiKey }: PostRequest, status: number, text: string): Problem {
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

/** Quotes the server briefly, or not at all if it repeats a part of the key. */
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
