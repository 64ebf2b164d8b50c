import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REQUIREMENTS } from "./requirements.ts";

test("every requirement is cited by a test, and every citation is a requirement", () => {
  const tests = globSync("{src,test}/**/*.test.ts").map((file) => readFileSync(file, "utf8"));
  const cited = new Set(
    tests.flatMap((text) => [...text.matchAll(/\bverifies\(\s*"([^"]+)"/g)].map((match) => match[1])),
  );
  expect([...cited].sort()).toEqual(Object.keys(REQUIREMENTS).sort());
});
