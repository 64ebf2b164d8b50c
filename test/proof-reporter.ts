import { mkdirSync, rmSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import { readFigures } from "./figures.ts";
import { type Ran, toLines, toText } from "./proof-lines.ts";
import { testFiles } from "./test-files.ts";

/** Prints the table of proofs after a run of all tests: the short form of `npm run verify`, without load. */
export function createProofReporter(folder: string): Reporter {
  return {
    onInit: () => void mkdirSync(folder, { recursive: true }),
    onTestRunEnd: (modules) => {
      const reports = readFigures(folder);
      rmSync(folder, { recursive: true, force: true });
      if (modules.length < testFiles().length) return;
      const lines = toLines({ ran: modules.flatMap(ranIn), reports, load: [] });
      console.log(`\n${lines.map(toText).join("\n")}`);
      if (lines.some(({ ok }) => ok === false)) process.exitCode = 1;
    },
  };
}

function ranIn({ children }: TestModule): Ran[] {
  return [...children.allTests()].map((test) => {
    const { state } = test.result();
    return { title: test.fullName, did: state === "passed" || state === "failed" ? state : "skipped" };
  });
}
