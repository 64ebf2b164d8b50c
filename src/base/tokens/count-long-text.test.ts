import { expect, test } from "vitest";
import { countLongText, loadTokenCounter } from "./tokens.ts";

test("a text is counted exactly, and a very long one nearly", async () => {
  const count = await loadTokenCounter();
  const words = Array.from({ length: 40_000 }, (_, at) => `word ${at} of many, in a row;`);
  const short = words.slice(0, 1_000).join("\n");
  expect(countLongText(short, count)).toBe(count(short));
  const long = words.join("\n");
  const share = countLongText(long, count) / count(long);
  expect(share).toBeGreaterThan(0.98);
  expect(share).toBeLessThan(1.02);
});
