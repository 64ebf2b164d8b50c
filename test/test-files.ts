import { globSync, readFileSync } from "node:fs";

/** Reads all files of tests. */
export function testFiles(): { readonly file: string; readonly text: string }[] {
  return globSync("{src,test}/**/*.test.ts")
    .sort()
    .map((file) => ({ file, text: readFileSync(file, "utf8") }));
}
