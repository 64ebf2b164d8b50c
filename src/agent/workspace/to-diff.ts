import { createTwoFilesPatch } from "diff";

const CONTEXT_LINES = 3;
/** With more changed lines, comparing costs more than a diff is worth. */
const MAX_EDITS = 2_000;

/** The unified diff between two texts of a file; undefined if they differ too much to compare. */
export function toDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
): string | undefined {
  const from = before === undefined ? "/dev/null" : `a/${path}`;
  const to = after === undefined ? "/dev/null" : `b/${path}`;
  return createTwoFilesPatch(from, to, before ?? "", after ?? "", undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
}

/** Shows both texts whole, one after the other, for texts that cannot be compared. */
export function toWholeDiff(path: string, before: string | undefined, after: string): string {
  const lines = (sign: string, text: string) => text.split("\n").map((line) => `${sign}${line}`);
  return [`--- a/${path}`, `+++ b/${path}`, ...lines("-", before ?? ""), ...lines("+", after)].join("\n");
}
