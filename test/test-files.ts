import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const BEHAVIOURS = /from "(\.[^"]*-behaviours\.ts)"/g;

/** Reads all files of tests. A suite of behaviours is part of each file that runs it. */
export function testFiles(): { readonly file: string; readonly text: string }[] {
  return globSync("{src,test}/**/*.test.ts")
    .sort()
    .map((file) => {
      const text = readFileSync(file, "utf8");
      const suites = [...text.matchAll(BEHAVIOURS)].map(([, path = ""]) =>
        readFileSync(join(dirname(file), path), "utf8"),
      );
      return { file, text: [text, ...suites].join("\n") };
    });
}
