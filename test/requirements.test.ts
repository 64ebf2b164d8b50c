import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REQUIREMENTS } from "./requirements.ts";

test("every promise is cited by a test, and nothing else is cited", () => {
  const tests = globSync("{src,test}/**/*.test.ts").map((file) => readFileSync(file, "utf8"));
  const cited = new Set(
    tests.flatMap((text) => [...text.matchAll(/\bverifies\(\s*"([^"]+)"/g)].map((match) => match[1])),
  );
  expect([...cited].sort()).toEqual(Object.keys(REQUIREMENTS).sort());
});
