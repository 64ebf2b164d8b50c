// The code blocks of the pages, and how each of them is checked.
import { globSync, readFileSync } from "node:fs";

/** A code block of a page. */
export interface DocBlock {
  readonly page: string;
  /** The line of its first line of code, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** Code that stands in a comment `<!-- setup` above the block, for readers and tests that need the whole. */
  readonly setup: string;
  /** Why nothing runs it, as the fence says: `sh not-run: opens a browser`. */
  readonly notRun?: string;
  /** The file that the block repeats, as a comment above it says: `<!-- examples/programs/gateway.ts -->`. */
  readonly file?: string;
}

/** The pages that people read, all but the records of decisions. */
export const PAGES = globSync(["*.md", "docs/*.md", "examples/**/README.md"]).sort();

const FENCE = /(?:<!-- (examples\/\S+) -->\n|<!-- setup\n([\s\S]*?)-->\n)?^(`{3,})(.*)\n([\s\S]*?)^\3$/gm;

/** The blocks of all pages, in their order. */
export function docBlocks(): DocBlock[] {
  return PAGES.flatMap((page) => {
    const text = readFileSync(page, "utf8");
    return [...text.matchAll(FENCE)].map((match) => {
      const [whole, file, setup = "", fence = "", info = "", code = ""] = match;
      const before = text.slice(0, match.index + whole.length - code.length - fence.length);
      const [language = "", ...words] = info.split(" ");
      const [, notRun] = /^not-run: (.+)$/.exec(words.join(" ")) ?? [];
      if (words.length > 0 && notRun === undefined)
        throw new Error(`${page}: ${info} is no fence that counts`);
      return {
        page,
        line: before.split("\n").length,
        language,
        code,
        setup,
        ...(notRun && { notRun }),
        ...(file && { file }),
      };
    });
  });
}
