import { defineConfig } from "vitest/config";

/**
 * The tests that run against each mutant: those beside the code that is mutated. Property tests stay out: each would
 * first shrink its counterexample.
 * Stryker itself rewrites a tsconfig by an interface that TypeScript 7 no longer has, so its config names none.
 */
export default defineConfig({
  test: {
    include: [
      "src/core/access/*.test.ts",
      "src/agent/permissions/**/*.test.ts",
      "src/core/calls/decide-call.test.ts",
      "src/base/net/*.test.ts",
    ],
    exclude: ["**/*-properties.test.ts"],
    testTimeout: 900_000,
  },
});
