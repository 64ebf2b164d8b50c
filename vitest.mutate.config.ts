import { defineConfig } from "vitest/config";

/**
 * The tests that run against each mutant. Property tests stay out: each would first shrink its counterexample.
 * Stryker itself rewrites a tsconfig by an interface that TypeScript 7 no longer has, so its config names none.
 */
export default defineConfig({
  test: {
    include: ["src/agent/permissions/**/*.test.ts"],
    exclude: ["**/*-properties.test.ts"],
    testTimeout: 60_000,
  },
});
