import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { loadTokenCounter, type TokenCounter } from "../tokens/tokens.ts";
import { type Arg, fitArgs } from "./args.ts";

let countTokens: TokenCounter;
beforeAll(async () => {
  countTokens = await loadTokenCounter();
});

const many: Arg[] = Array.from({ length: 400 }, (_, index) => ({
  name: `field_${index}`,
  type: "string",
  required: index < 3,
  description: `The value of field ${index}, which may be anything.`,
}));

test("a list that fits stays as it is", () => {
  expect(fitArgs(many.slice(0, 3), { maxTokens: 500, countTokens })).toEqual({
    args: many.slice(0, 3),
    omitted: 0,
  });
});

test("from 400 arguments, the required ones stay whole and the first optional ones are named", () => {
  const { args, omitted } = fitArgs(many, { maxTokens: 600, countTokens });
  expect(countTokens(JSON.stringify(args))).toBeLessThanOrEqual(600);
  expect(args.length + omitted).toBe(400);
  expect(args.slice(0, 3)).toEqual(many.slice(0, 3));
  expect(args.slice(3).map(({ name }) => name)).toEqual(many.slice(3, args.length).map(({ name }) => name));
  expect(args.at(-1)).toEqual({ name: `field_${args.length - 1}`, type: "string", required: false });
});

test("any list stays within any budget, in order", () => {
  const arg = fc.record(
    {
      name: fc.string({ minLength: 1 }),
      type: fc.string({ maxLength: 200 }),
      required: fc.boolean(),
      default: fc.jsonValue({ maxDepth: 2 }),
      description: fc.lorem({ maxCount: 12 }),
    },
    { requiredKeys: ["name", "type", "required"] },
  ) as fc.Arbitrary<Arg>;
  fc.assert(
    fc.property(fc.array(arg, { maxLength: 12 }), fc.nat(200), (args, maxTokens) => {
      const fitted = fitArgs(args, { maxTokens, countTokens });
      expect(countTokens(JSON.stringify(fitted.args))).toBeLessThanOrEqual(Math.max(maxTokens, 1));
      expect(fitted.args.length + fitted.omitted).toBe(args.length);
      let from = 0;
      for (const { name } of fitted.args) {
        from = args.findIndex((given, index) => index >= from && given.name === name) + 1;
        expect(from).toBeGreaterThan(0);
      }
    }),
  );
});
