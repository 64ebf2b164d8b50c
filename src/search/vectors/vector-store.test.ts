import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StringTable } from "../lexical/segment.ts";
import { createCodeBlock } from "./code-block.ts";
import { createKernelBlock, quantize } from "./dot-block.ts";
import { createVectorCodes } from "./vector-codes.ts";
import { createVectorStore, prepareVectorStore, type VectorStore } from "./vector-store.ts";

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
    expect(store.search(vector(1, 0), 10, words).map(({ slot }) => slot)).toEqual([3, 31, 700, 1279]);
    expect(store.search(vector(1, 0), 10, new Uint32Array(0))).toEqual([]);
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

  it("comes back from what was saved of some ids, in their order", () => {
    const store = open(40);
    const random = createRandom(7);
    for (let index = 0; index < 700; index++) store.put(`ä${index}`, random(40));
    for (let index = 0; index < 700; index += 9) store.remove(`ä${index}`);
    const ids = StringTable.from(Array.from({ length: 700 }, (_, index) => `ä${index}`).sort());
    const restored = reopen(store, ids, engine);
    const query = random(40);
    const found = (from: VectorStore) => from.search(query, 50).map(({ id, score }) => ({ id, score }));
    expect(found(restored)).toEqual(found(store));
    expect([restored.size, restored.slots]).toEqual([store.size, 700]);
    expect(restored.slotOf("ä9")).toBeUndefined();
    expect(restored.idOf(restored.slotOf("ä8")!)).toBe("ä8");
    expect(restored.remove("ä8")).toBe(true);
    expect(restored.slotOf("ä8")).toBeUndefined();
    expect(restored.put("new", query)).toBeLessThan(700);
    for (let index = 0; index < 500; index++) restored.put(`more${index}`, random(40));
    expect(restored.search(query, 1)[0]!.id).toBe("new");
    expect(restored.put("ä8", query)).toBe(restored.slotOf("ä8"));
    const again = reopen(restored, StringTable.from(["new", "ä7", "ä8", "ä9"]), engine);
    expect(again.search(query, 3).map(({ id }) => id)).toEqual(["new", "ä8", "ä7"]);
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
        const filter = Uint32Array.from(random(Math.ceil(count / 32)), (value) => value * 2 ** 32);
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

describe("codes", () => {
  const CODED = 2_000;

  /** Vectors around a few hundred centres, as texts are: 2,500 of them, with codes. */
  function coded(): { store: VectorStore; vectors: Float32Array[] } {
    const random = createRandom(11);
    const centres = Array.from({ length: 300 }, () => random(64));
    const vectors = Array.from({ length: 2_500 }, (_, index) => {
      const noise = random(64);
      return centres[index % 300]!.map((value, at) => value + noise[at]!);
    });
    const store = fill(createVectorStore(64, { codedFrom: CODED }), vectors);
    expect(store.wantsCodes).toBe(true);
    for (const _ of store.makeCodes());
    expect(store.wantsCodes).toBe(false);
    return { store, vectors };
  }

  /** More than the vectors that are compared exactly, so that codes decide. */
  const many = { parts: 16, slots: 10_000 };

  it("are summed up by the kernel exactly as by plain JavaScript", () => {
    const random = createRandom(3, 128);
    const block = createCodeBlock(many.parts)!;
    block.reserve(many.slots);
    const all = Array.from({ length: many.slots }, (_, slot) => {
      const codes = Uint8Array.from(random(many.parts), (value) => Math.floor((value + 1) * 7.99));
      block.put(slot, codes);
      return codes;
    });
    const tables = Uint8Array.from(random(many.parts * 16), (value) => Math.round((value + 1) * 63.5));
    block.setTables(tables);
    const plain = all.map((codes) => codes.reduce((sum, code, part) => sum + tables[part * 16 + code]!, 0));
    for (const least of [-1, 1_100]) {
      for (const first of [0, 113]) {
        const sums: [number, number][] = [];
        block.scan(first, 512, least, (...sum) => sums.push(sum));
        const scanned = plain.map((sum, slot): [number, number] => [slot, sum]);
        const slots = scanned.slice(first * 16, (first + 512) * 16);
        expect(sums).toEqual(slots.filter(([, sum]) => sum > least));
      }
    }
  });

  it("lead to the hits of an exact scan", () => {
    const { store, vectors } = coded();
    const exact = fill(createVectorStore(64), vectors);
    const filter = Uint32Array.from({ length: 100 }, (_, at) => (at % 3 === 0 ? 0x0f0f0f0f : 0xffffffff));
    for (const query of vectors.slice(0, 20)) {
      for (const bits of [undefined, filter]) {
        expect(store.search(query, 10, bits)).toEqual(exact.search(query, 10, bits));
      }
    }
  });

  it("choose few candidates that hold nearly all of the nearest", () => {
    const { store, vectors } = coded();
    const ids = StringTable.from(vectors.map((_, index) => `id${index}`).sort());
    const { rows, scales, codes } = store.contents(ids);
    const book = createVectorCodes(codes!)!;
    let held = 0;
    for (let query = 0; query < 50; query++) {
      const row = rows.subarray(query * 64, query * 64 + 64);
      const likely = new Set(book.candidates(row, ids.size, 100, () => true));
      expect(likely.size).toBeLessThan(200);
      const products = Array.from({ length: ids.size }, (_, slot) => {
        const other = rows.subarray(slot * 64, slot * 64 + 64);
        return other.reduce((sum, level, at) => sum + level * row[at]!, 0) * scales[slot]!;
      });
      const nearest = [...products.keys()].sort((one, next) => products[next]! - products[one]!).slice(0, 5);
      held += nearest.filter((slot) => likely.has(slot)).length;
    }
    expect(held / 250).toBeGreaterThan(0.9);
  });

  it("follow every change, also while they are made", () => {
    const { store, vectors } = coded();
    const changed = createVectorStore(64, { codedFrom: CODED });
    fill(changed, vectors);
    const steps = changed.makeCodes();
    for (let step = 0; step < 18; step++) steps.next();
    const random = createRandom(5);
    const others = Array.from({ length: 300 }, () => random(64));
    const change = (target: VectorStore) => {
      others.forEach((other, at) => {
        target.put(`id${at * 9}`, other);
      });
      for (let at = 0; at < 2_500; at += 7) target.remove(`id${at}`);
      others.forEach((other, at) => {
        target.put(`other${at}`, other);
      });
    };
    change(changed);
    for (const _ of steps);
    change(store);
    const ids = StringTable.from(
      [...vectors.map((_, index) => `id${index}`), ...others.map((_, index) => `other${index}`)].sort(),
    );
    expect(changed.contents(ids)).toEqual(store.contents(ids));
    const reopened = reopen(changed, ids, "kernel", CODED);
    expect(reopened.wantsCodes).toBe(false);
    expect(reopened.contents(ids)).toEqual(store.contents(ids));
  });
});

function reopen(
  store: VectorStore,
  ids: StringTable,
  engine: "kernel" | "plain",
  codedFrom?: number,
): VectorStore {
  const { dimensions, rows, ...rest } = store.contents(ids);
  const prepared = prepareVectorStore(dimensions, ids.size, { engine, ...(codedFrom && { codedFrom }) });
  prepared.rows.set(rows);
  return prepared.finish(ids, rest);
}

function vector(...components: number[]): Float32Array {
  return Float32Array.from(components);
}

function fill(store: VectorStore, vectors: readonly Float32Array[]): VectorStore {
  for (const [index, components] of vectors.entries()) store.put(`id${index}`, components);
  return store;
}

function naive(vectors: readonly Float32Array[], query: Float32Array, limit: number, filter?: Uint32Array) {
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
    .filter(({ slot }) => filter === undefined || (filter[slot >> 5]! >> (slot & 31)) & 1)
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
