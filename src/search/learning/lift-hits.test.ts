import { expect, test } from "vitest";
import { ChoiceModel, type Evidence, liftHits } from "./lift-hits.ts";

const strong: Evidence = { certainty: 0.6, nearness: 0.4, correction: 0.2, isSupported: true };

test("a used entry passes entries that were never used", () => {
  const hits = ["new1", "new2", "used", "new3", "rival"].map((id, at) => ({ id, score: 1 - at / 20 }));
  const order = liftHits(hits, new Map([["rival", strong]]), new ChoiceModel()).map(({ id }) => id);
  expect(order[0]).toBe("rival");
  expect(order.slice(1)).toEqual(["new1", "new2", "used", "new3"]);
});

test("a first hit that stands alone yields less easily than one among equals", () => {
  const weak: Evidence = { ...strong, correction: 0.15 };
  const first = (second: number) =>
    liftHits(
      [
        { id: "first", score: 1 },
        { id: "second", score: second },
        { id: "rival", score: 0.75 },
      ],
      new Map([["rival", weak]]),
      new ChoiceModel(),
    )[0]?.id;
  expect(first(0.95)).toBe("rival");
  expect(first(0.76)).toBe("first");
});
