import fc from "fast-check";
import { expect, test } from "vitest";
import { ExampleMemory, type LearnedExample } from "./example-memory.ts";

const WORDS = ["get", "list", "price", "stock", "museum", "hours", "weather", "city", "team", "rank"];
const texts = fc.uniqueArray(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 });
const vectors = fc
  .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 })
  .filter((numbers) => Math.hypot(...numbers) > 0.1)
  .map((numbers) => Float32Array.from(numbers, (value) => value / Math.hypot(...numbers)));

test("examples that need not be compared are none of the nearest", () => {
  const examples = fc.array(fc.record({ terms: texts, vector: fc.option(vectors, { nil: undefined }) }), {
    minLength: 1,
    maxLength: 30,
  });
  fc.assert(
    fc.property(examples, texts, vectors, fc.nat(5), (list, terms, vector, gone) => {
      const memory = new ExampleMemory();
      const kept = list.map((each, at) => toExample(at, each));
      for (const example of kept) memory.add(example);
      for (const example of kept.splice(0, gone)) memory.remove(example);
      const few = memory.nearest(terms, vector, 3);
      const all = memory.nearest(terms, vector, list.length + 1).slice(0, 3);
      expect(few.map(({ likeness }) => likeness.toFixed(6))).toEqual(
        all.map(({ likeness }) => likeness.toFixed(6)),
      );
      for (const { example } of few) expect(kept).toContain(example);
    }),
  );
});

test("a text is wholly like itself, and unlike one that shares no word", () => {
  const memory = new ExampleMemory();
  memory.add(toExample(0, { terms: ["price", "stock"] }));
  memory.add(toExample(1, { terms: ["museum", "hours"] }));
  const [first, ...others] = memory.nearest(["price", "stock"], undefined, 5);
  expect(first?.example.route).toBe("route0");
  expect(first?.likeness).toBeCloseTo(1);
  expect(others).toEqual([]);
});

function toExample(at: number, text: Pick<LearnedExample, "terms" | "vector">): LearnedExample {
  const rest = { at: 0, weight: 1, ask: "", shown: true, shortfall: 0 };
  return { id: String(at).padStart(3, "0"), route: `route${at}`, ...text, ...rest };
}
