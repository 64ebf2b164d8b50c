import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { FIGURES_FOLDER } from "./test/figures.ts";
import { MeasuringFirst } from "./test/measuring-first.ts";
import { COMPILED } from "./test/program-env.ts";
import { createProofReporter } from "./test/proof-reporter.ts";

/** `npm run verify` reads the figures itself. */
const given = process.env[FIGURES_FOLDER];
const folder = given ?? join(tmpdir(), `keyhole-figures-${process.pid}`);

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Programs that tests start inherit the compiled code.
    env: { NODE_COMPILE_CACHE: COMPILED, [FIGURES_FOLDER]: folder },
    reporters: given ? ["default"] : ["default", createProofReporter(folder)],
    isolate: false,
    sequence: { sequencer: MeasuringFirst },
    // Most of the time tests wait for programs that they have started.
    maxWorkers: "100%",
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
