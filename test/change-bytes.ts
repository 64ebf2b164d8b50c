import { readFileSync, writeFileSync } from "node:fs";

/** Replaces a text in a binary file by another of the same length. */
export function changeBytes(path: string, before: string, after: string): void {
  const bytes = readFileSync(path, "latin1");
  if (!bytes.includes(before) || before.length !== after.length) throw new Error(`${path} lacks ${before}`);
  writeFileSync(path, bytes.replaceAll(before, after), "latin1");
}
