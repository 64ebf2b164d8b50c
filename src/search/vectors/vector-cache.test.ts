import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cachedEmbedder, createVectorCache } from "./cached-embedder.ts";
import type { Embedder } from "./embedder.ts";

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "vector-cache-"));
  path = join(directory, "deeper", "vectors.sqlite");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("cached embedder", () => {
  it("embeds each text once, in order, also within one call and at the same time", async () => {
    const inner = countingEmbedder("model@1");
    const embedder = cachedEmbedder(inner, createVectorCache());
    const [first, second] = await Promise.all([embedder.embed(["a", "b", "a"]), embedder.embed(["b", "c"])]);
    expect(first.map(([length]) => length)).toEqual([97, 98, 97]);
    expect(second.map(([length]) => length)).toEqual([98, 99]);
    await embedder.embed(["c", "a"]);
    expect(inner.seen).toEqual(["a", "b", "c"]);
  });

  it("keeps models apart", async () => {
    const cache = createVectorCache();
    const other = countingEmbedder("model@2");
    await cachedEmbedder(countingEmbedder("model@1"), cache).embed(["a"]);
    await cachedEmbedder(other, cache).embed(["a"]);
    expect(other.seen).toEqual(["a"]);
  });

  it("is not changed by what a caller does to its vector", async () => {
    const embedder = cachedEmbedder(countingEmbedder("m"), createVectorCache());
    const [vector] = await embedder.embed(["a"]);
    vector!.fill(0);
    expect((await embedder.embed(["a"]))[0]![0]).toBe(97);
  });

  it("remembers no failure", async () => {
    let fails = true;
    const inner = countingEmbedder("m");
    const flaky: Embedder = {
      ...inner,
      embed: async (texts) => (fails ? Promise.reject(new Error("down")) : inner.embed(texts)),
    };
    const embedder = cachedEmbedder(flaky, createVectorCache());
    await expect(embedder.embed(["a", "b"])).rejects.toThrow("down");
    fails = false;
    await expect(embedder.embed(["a", "b"])).resolves.toHaveLength(2);
  });

  it("refuses an embedder that gives too few vectors", async () => {
    const short: Embedder = { id: "short", dimensions: 1, embed: async () => [] };
    await expect(cachedEmbedder(short, createVectorCache()).embed(["a"])).rejects.toMatchObject({
      code: "INTERNAL",
    });
  });
});

describe("vector file", () => {
  const vectors = new Map([["key", Float32Array.of(0.5, -0.25)]]);

  it("serves the next run", async () => {
    const inner = countingEmbedder("m");
    for (let run = 0; run < 2; run++) {
      const cache = createVectorCache({ path });
      await cachedEmbedder(inner, cache).embed(["a", "b"]);
      cache.close();
    }
    expect(inner.seen).toEqual(["a", "b"]);
  });

  it("keeps the newest when it is full", () => {
    const cache = createVectorCache({ path, maximumInMemory: 1, maximumInFile: 3 });
    for (const key of ["a", "b", "c", "d", "e"]) cache.put(new Map([[key, Float32Array.of(1)]]));
    expect(["a", "b", "c", "d", "e"].filter((key) => cache.get(key))).toEqual(["c", "d", "e"]);
    cache.close();
  });

  it("sets a file aside that is no database, and starts a new one", () => {
    createVectorCache({ path }).close();
    const rubbish = "no database ".repeat(1000);
    writeFileSync(path, rubbish);
    const cache = createVectorCache({ path });
    cache.put(vectors);
    cache.close();
    expect(readFileSync(`${path}.damaged`, "utf8")).toBe(rubbish);
    const next = createVectorCache({ path });
    expect(next.get("key")).toEqual(vectors.get("key"));
    next.close();
  });

  it("sets a file aside whose pages turn out to be damaged while it is read", () => {
    const cache = createVectorCache({ path });
    cache.put(new Map(Array.from({ length: 500 }, (_, index) => [`key${index}`, new Float32Array(64)])));
    cache.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4096 * 2);
    writeFileSync(path, bytes);
    const damaged = createVectorCache({ path });
    for (let index = 0; index < 500; index++) damaged.get(`key${index}`);
    expect(existsSync(`${path}.damaged`)).toBe(true);
    damaged.put(vectors);
    damaged.close();
    const next = createVectorCache({ path });
    expect(next.get("key")).toEqual(vectors.get("key"));
    next.close();
  });

  it("takes a vector whose bytes have changed for a miss", () => {
    const cache = createVectorCache({ path });
    cache.put(vectors);
    cache.close();
    const database = new DatabaseSync(path);
    database.exec("UPDATE vectors_1 SET vector = x'000000000000803F'");
    database.close();
    const next = createVectorCache({ path });
    expect(next.get("key")).toBeUndefined();
    next.put(vectors);
    expect(next.get("key")).toEqual(vectors.get("key"));
    next.close();
  });

  it("goes on in memory where no file can be made", () => {
    writeFileSync(join(directory, "file"), "");
    const cache = createVectorCache({ path: join(directory, "file", "vectors.sqlite") });
    cache.put(vectors);
    expect(cache.get("key")).toEqual(vectors.get("key"));
    cache.close();
    expect(cache.get("other")).toBeUndefined();
  });
});

/** The vector of a text is its first character's code. */
function countingEmbedder(id: string): Embedder & { readonly seen: string[] } {
  const seen: string[] = [];
  return {
    id,
    dimensions: 1,
    seen,
    async embed(texts) {
      seen.push(...texts);
      return texts.map((text) => Float32Array.of(text.charCodeAt(0)));
    },
  };
}
