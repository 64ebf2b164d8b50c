import { hash } from "node:crypto";
import { problem } from "../../schema/problem.ts";
import type { Embedder } from "./embedder.ts";
import { createVectorCache, type VectorCache, type VectorCacheOptions } from "./vector-cache.ts";

/** An embedder with a cache of its vectors. */
export interface CachedEmbedder extends Embedder {
  /** Closes the file of the cache. */
  close(): void;
}

/**
 * Wraps an embedder so that it never embeds the same text twice. With a `path`, vectors last beyond the process.
 * See {@link createHttpEmbedder}.
 *
 * @example
 * ```ts
 * import { createCachedEmbedder, createStaticEmbedder } from "keyhole/search";
 *
 * const embedder = createCachedEmbedder(createStaticEmbedder(), { path: "vectors.db" });
 * const [vector] = await embedder.embed(["refund"]);
 * console.assert(vector?.length === embedder.dimensions);
 * embedder.close();
 * ```
 */
export function createCachedEmbedder(embedder: Embedder, options: VectorCacheOptions = {}): CachedEmbedder {
  const cache = createVectorCache(options);
  return Object.assign(cachedEmbedder(embedder, cache), { close: () => cache.close() });
}

/** The same embedder, except that a text it has seen is never embedded again. */
export function cachedEmbedder(embedder: Embedder, cache: VectorCache): Embedder {
  const pending = new Map<string, Promise<Float32Array>>();

  function embedNew(texts: ReadonlyMap<string, string>): void {
    const embedding = embedAll(embedder, texts);
    const stored = embedding.then((vectors) => {
      cache.put(vectors);
      return vectors;
    });
    for (const key of texts.keys()) {
      const vector = stored.then((vectors) => vectors.get(key)!);
      pending.set(key, vector);
      const forget = () => pending.delete(key);
      vector.then(forget, forget);
    }
  }

  return {
    id: embedder.id,
    get dimensions() {
      return embedder.dimensions;
    },
    async embed(texts) {
      const found = new Map<string, Float32Array | Promise<Float32Array>>();
      const unknown = new Map<string, string>();
      const keys = texts.map((text) => keyOf(embedder, text));
      for (const [index, key] of keys.entries()) {
        if (found.has(key) || unknown.has(key)) continue;
        const known = cache.get(key) ?? pending.get(key);
        if (known !== undefined) found.set(key, known);
        else unknown.set(key, texts[index]!);
      }
      if (unknown.size > 0) embedNew(unknown);
      for (const key of unknown.keys()) found.set(key, pending.get(key)!);
      // Copies, because a caller that changes its vector must not change the cache.
      return Promise.all(keys.map(async (key) => (await found.get(key)!).slice()));
    },
  };
}

async function embedAll(
  embedder: Embedder,
  texts: ReadonlyMap<string, string>,
): Promise<Map<string, Float32Array>> {
  const vectors = await embedder.embed([...texts.values()]);
  if (vectors.length !== texts.size) {
    throw problem("INTERNAL", {
      name: `The embedder ${embedder.id}`,
      reason: `it gave ${vectors.length} vectors for ${texts.size} texts.`,
    });
  }
  return new Map([...texts.keys()].map((key, index) => [key, vectors[index]!]));
}

function keyOf(embedder: Embedder, text: string): string {
  return hash("sha256", `${embedder.id}\0${text}`, "base64url");
}
