import { defineConfig } from "vitest/config";
import { COMPILED } from "./test/program-env.ts";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Programs that tests start inherit it.
    env: { NODE_COMPILE_CACHE: COMPILED },
    isolate: false,
    // Most of the time tests wait for programs that they have started.
    maxWorkers: "100%",
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
