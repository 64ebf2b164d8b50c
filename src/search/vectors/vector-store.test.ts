import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKernelBlock } from "./kernel-block.ts";
import { quantize } from "./quantize.ts";
import { createVectorStore, type VectorStore, vectorStoreFromBytes } from "./vector-store.ts";

const ENGINES = ["kernel", "plain"] as const;

describe.each(ENGINES)("vector store (%s)", (engine) => {
  const open = (dimensions: number) => createVectorStore(dimensions, { engine });

  it("finds the nearest first, with scores near the cosine", () => {
    const store = open(3);
    store.put("x", vector(1, 0, 0));
    store.put("xy", vector(1, 1, 0));
    store.put("minus", vector(-1, 0, 0));
    const hits = store.search(vector(1, 0, 0), 10);
    expect(hits.map(({ id }) => id)).toEqual(["x", "xy", "minus"]);
    expect(hits[0]!.score).toBeCloseTo(1, 6);
    expect(hits[1]!.score).toBeCloseTo(Math.SQRT1_2, 6);
    expect(hits[2]!.score).toBeCloseTo(-1, 6);
  });

  it("replaces in place, forgets what was removed and uses its slot again", () => {
    const store = open(2);
    const slot = store.put("a", vector(1, 0));
    expect(store.put("a", vector(0, 1))).toBe(slot);
    store.put("b", vector(1, 0));
    expect(store.search(vector(1, 0), 1)[0]!.id).toBe("b");
    expect(store.remove("a")).toBe(true);
    expect(store.remove("a")).toBe(false);
    expect([store.size, store.slots, store.slotOf("a"), store.idOf(slot)]).toEqual([
      1,
      2,
      undefined,
      undefined,
    ]);
    expect(store.search(vector(0, 1), 10).map(({ id }) => id)).toEqual(["b"]);
    expect(store.put("constructor", vector(0, 1))).toBe(slot);
    expect(store.slotOf("constructor")).toBe(slot);
    expect(store.slotOf("toString")).toBeUndefined();
  });

  it("breaks ties by id, whatever the order of arrival", () => {
    const store = open(2);
    for (const id of ["c", "a", "d", "b"]) store.put(id, vector(1, 1));
    expect(store.search(vector(1, 1), 2).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("finds only what the filter allows, also past its end", () => {
    const store = open(2);
    for (let slot = 0; slot < 2000; slot++) store.put(`id${slot}`, vector(1, slot / 2000));
    const words = new Uint32Array(40);
    for (const slot of [3, 31, 700, 1279]) words[slot >> 5]! |= 1 << (slot & 31);
    const expected = [3, 31, 700, 1279];
    for (const filter of [words, new Uint8Array(words.buffer)]) {
      expect(store.search(vector(1, 0), 10, filter).map(({ slot }) => slot)).toEqual(expected);
    }
    expect(store.search(vector(1, 0), 10, new Uint8Array(0))).toEqual([]);
  });

  it("finds nothing for a query of zeroes or a limit of none", () => {
    const store = open(2);
    store.put("a", vector(1, 0));
    expect(store.search(vector(0, 0), 10)).toEqual([]);
    expect(store.search(vector(1, 0), 0)).toEqual([]);
    expect(store.search(vector(1, 0), Number.NaN)).toEqual([]);
    expect(open(2).search(vector(1, 0), 10)).toEqual([]);
  });

  it("refuses vectors that cannot be compared, and keeps what it had", () => {
    const store = open(2);
    store.put("a", vector(1, 0));
    expect(() => store.put("a", vector(1, 0, 0))).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    expect(() => store.put("a", vector(Number.NaN, 0))).toThrow(/finite/);
    expect(() => store.search(vector(1), 1)).toThrow(/2 dimensions/);
    expect(() => open(0)).toThrow(/dimensions/);
    expect(store.search(vector(1, 0), 1)[0]!.score).toBeCloseTo(1, 6);
  });

  it("comes back from its bytes with slots, free slots and answers", () => {
    const store = open(40);
    const random = createRandom(7);
    for (let index = 0; index < 700; index++) store.put(`ä${index}`, random(40));
    for (let index = 0; index < 700; index += 9) store.remove(`ä${index}`);
    const restored = vectorStoreFromBytes(store.toBytes(), { engine });
    const query = random(40);
    expect(restored.search(query, 50)).toEqual(store.search(query, 50));
    expect([restored.size, restored.slots]).toEqual([store.size, store.slots]);
    expect(restored.put("new", query)).toBeLessThan(700);
    for (let index = 0; index < 500; index++) restored.put(`more${index}`, random(40));
    expect(restored.search(query, 1)[0]!.id).toBe("new");
  });

  it("refuses bytes that are damaged anywhere", () => {
    const store = open(8);
    store.put("a", vector(1, 2, 3, 4, 5, 6, 7, 8));
    const bytes = store.toBytes();
    for (let index = 0; index < bytes.length; index++) {
      const damaged = Uint8Array.from(bytes, (byte, at) => (at === index ? byte ^ 0x10 : byte));
      expect(() => vectorStoreFromBytes(damaged)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
    }
    for (const end of [0, 10, bytes.length - 1]) {
      expect(() => vectorStoreFromBytes(bytes.subarray(0, end))).toThrow(/damaged/);
    }
  });
});

describe("kernel", () => {
  it("runs on this host, so that the comparison below means something", () => {
    expect(createKernelBlock(32)).toBeDefined();
  });

  it("ranks and scores exactly as plain JavaScript and as the naive way do", () => {
    const shape = fc.record({
      dimensions: fc.integer({ min: 1, max: 100 }),
      count: fc.integer({ min: 1, max: 1300 }),
      limit: fc.integer({ min: 1, max: 40 }),
      seed: fc.integer({ min: 1, max: 2 ** 30 }),
      levels: fc.constantFrom(2, 5, 1000),
    });
    fc.assert(
      fc.property(shape, ({ dimensions, count, limit, seed, levels }) => {
        const random = createRandom(seed, levels);
        const vectors = Array.from({ length: count }, () => random(dimensions));
        const query = random(dimensions);
        const filter = Uint8Array.from(random(Math.ceil(count / 8)), (value) => value * 255);
        const stores = ENGINES.map((engine) => fill(createVectorStore(dimensions, { engine }), vectors));
        for (const bits of [undefined, filter]) {
          const expected = naive(vectors, query, limit, bits);
          for (const store of stores) expect(store.search(query, limit, bits)).toEqual(expected);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("adds up the largest products without overflow", () => {
    const dimensions = 16_384;
    const store = createVectorStore(dimensions);
    store.put("same", new Float32Array(dimensions).fill(1));
    store.put("opposite", new Float32Array(dimensions).fill(-1));
    const hits = store.search(new Float32Array(dimensions).fill(1), 2);
    expect(hits.map(({ score }) => Math.round(score * 1000))).toEqual([1000, -1000]);
  });
});

function vector(...components: number[]): Float32Array {
  return Float32Array.from(components);
}

function fill(store: VectorStore, vectors: readonly Float32Array[]): VectorStore {
  for (const [index, components] of vectors.entries()) store.put(`id${index}`, components);
  return store;
}

function naive(vectors: readonly Float32Array[], query: Float32Array, limit: number, filter?: Uint8Array) {
  const target = new Int8Array(query.length);
  const queryScale = quantize(query, target)!;
  const queryRow = Int8Array.from(target);
  if (queryScale === 0) return [];
  return vectors
    .map((components, slot) => {
      const scale = quantize(components, target)!;
      const product = target.reduce((sum, level, index) => sum + level * queryRow[index]!, 0);
      return { slot, id: `id${slot}`, score: product * scale * queryScale };
    })
    .filter(({ slot }) => filter === undefined || (filter[slot >> 3]! >> (slot & 7)) & 1)
    .sort((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1))
    .slice(0, limit);
}

/** Numbers in [-1, 1] of that many levels: few levels give many ties. */
function createRandom(seed: number, levels = 1000): (length: number) => Float32Array {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (Math.floor((state / 2 ** 32) * levels) / (levels - 1)) * 2 - 1;
  };
  return (length) => Float32Array.from({ length }, next);
}
