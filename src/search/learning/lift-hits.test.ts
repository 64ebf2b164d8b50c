import fc from "fast-check";
import { expect, test } from "vitest";
import { ChoiceModel } from "./choice-model.ts";
import type { Evidence } from "./evidence.ts";
import { inOrder, liftHits } from "./lift-hits.ts";
import { RivalBar } from "./rival-bar.ts";

const HITS = ["new1", "new2", "used", "new3", "new4", "rival"].map((id, at) => ({ id, score: 1 - at / 20 }));
const isKnown = (id: string) => !id.startsWith("new");
const strong: Evidence = {
  certainty: 0.6,
  nearness: 0.4,
  correction: 0.2,
  passedOver: 0,
  isVoiced: true,
  isSupported: true,
};

test("a used entry that another one overtakes falls by one place, not behind all that were never used", () => {
  const judge = {
    model: new ChoiceModel(),
    bar: Number.POSITIVE_INFINITY,
    usesOf: (id: string) => (isKnown(id) ? 9 : 0),
  };
  const order = liftHits(HITS, new Map([["rival", strong]]), judge).map(({ id }) => id);
  expect(order).toEqual(["new1", "new2", "rival", "used", "new3", "new4"]);
});

test("an entry that was used once, for another need, keeps its place like one that was never used", () => {
  const hits = ["new1", "new2", "new3", "new4", "used", "rival"].map((id, at) => ({
    id,
    score: 1 - at / 20,
  }));
  const orderAfter = (uses: number) => {
    const usesOf = (id: string) => (isKnown(id) ? uses : 0);
    const judge = { model: new ChoiceModel(), bar: Number.POSITIVE_INFINITY, usesOf };
    return liftHits(hits, new Map([["rival", strong]]), judge).map(({ id }) => id);
  };
  expect(orderAfter(1)).toEqual(["new1", "new2", "new3", "new4", "used", "rival"]);
  expect(orderAfter(9)).toEqual(["new1", "new2", "new3", "new4", "rival", "used"]);
});

test("an entry that was never used falls by one place at most, unless another leads by more than the bar", () => {
  const hit = fc.record({
    id: fc.nat(30).map((number) => `${number % 2 ? "new" : "old"}${number}`),
    lift: fc.nat(4),
  });
  const lists = fc.uniqueArray(hit, { selector: ({ id }) => id, minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(lists, fc.constantFrom(0, 1, 3, Number.POSITIVE_INFINITY), (list, bar) => {
      const hits = list.map(({ id }, at) => ({ id, score: 1 - at / 20 }));
      const scores = new Map(
        list.map(({ id, lift }, at) => [id, 8 * hits[at]!.score + (isKnown(id) ? lift : 0)]),
      );
      const order = inOrder(hits, scores, bar, isKnown);
      expect(order.toSorted()).toEqual(list.map(({ id }) => id).toSorted());
      for (const [place, { id }] of hits.slice(0, 5).entries()) {
        if (isKnown(id)) continue;
        const leading = list.filter(
          (other) => scores.get(other.id)! > scores.get(id)! + bar && isKnown(other.id),
        );
        expect(order.indexOf(id)).toBeLessThanOrEqual(place + 1 + leading.length);
      }
    }),
  );
});

test("a first hit that stands alone yields less easily than one among equals", () => {
  const judge = { model: new ChoiceModel(), bar: 0, usesOf: () => 9 };
  const weak: Evidence = { ...strong, correction: 0.15 };
  const first = (second: number) =>
    liftHits(
      [
        { id: "first", score: 1 },
        { id: "second", score: second },
        { id: "rival", score: 0.75 },
      ],
      new Map([["rival", weak]]),
      judge,
    )[0]?.id;
  expect(first(0.95)).toBe("rival");
  expect(first(0.76)).toBe("first");
});

test("the bar never lowers entries that were never used, and is out of reach before a hundred uses", () => {
  const bar = new RivalBar();
  for (let use = 0; use < 98; use++) bar.observe(Number.NEGATIVE_INFINITY);
  expect(bar.value).toBe(Number.POSITIVE_INFINITY);
  bar.observe(-3);
  expect(bar.value).toBe(0);
});
