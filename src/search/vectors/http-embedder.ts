import { createGuardedFetch } from "../../net/guarded-fetch.ts";
import { type Problem, problem } from "../../schema/problem.ts";
import type { Embedder } from "./embedder.ts";
import { endpointOf, type HttpEmbedderKind, readVectors, requestBody } from "./http-embedding-format.ts";
import { normalize } from "./normalize.ts";
import { postWithRetry } from "./post-with-retry.ts";

/** Options of {@link createHttpEmbedder}. */
export interface HttpEmbedderOptions {
  readonly kind: HttpEmbedderKind;
  /** The server's address, with or without the path of its embeddings endpoint. */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string;
  /** Asked of the server where given, and checked; otherwise learned from the first answer. */
  readonly dimensions?: number;
  /** Texts per request, default 64. */
  readonly batchSize?: number;
  /** For each request, default 30,000. */
  readonly timeoutMs?: number;
  /** The wait before the first retry, default 250; it doubles. */
  readonly backoffMs?: number;
}

const BATCH_SIZE = 64;
const TIMEOUT_MS = 30_000;
const BACKOFF_MS = 250;
/** Stays below the 8,192 tokens that common models take, in any script. */
const MAXIMUM_CHARACTERS = 8000;
/** Servers refuse an empty text; this is sent in its place, and its vector is not used. */
const PLACEHOLDER = ".";

/**
 * Creates an embedder at an OpenAI-compatible or Ollama endpoint. `dimensions` is 0 until it is known. See
 * {@link createCachedEmbedder}.
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
  // A redirect could carry the key to another host, so none is followed.
  const guardedFetch = createGuardedFetch({ ownUrl: endpoint, redirects: "none" });
  const name = `The embeddings endpoint at ${endpoint.host}`;
  let dimensions = options.dimensions ?? 0;

  async function embedBatch(texts: readonly string[]): Promise<Float32Array[]> {
    const inputs = texts.map((text) => text.slice(0, MAXIMUM_CHARACTERS).trim() || PLACEHOLDER);
    const answer = await postWithRetry({
      name,
      guardedFetch,
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
    return problem("UNAVAILABLE", { name, state: "unusable_answer", reason: `${reason}.` });
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
