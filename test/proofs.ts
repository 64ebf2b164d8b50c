import { FAULTS } from "./faults.ts";
import { FINDINGS } from "./findings.ts";
import type { testFiles } from "./test-files.ts";
import { THREATS } from "./threats.ts";

/** Something that holds because tests say so. */
export interface Claim {
  readonly says: string;
  /** Titles of tests, as they are written, or the first words of them. */
  readonly tests: readonly string[];
  /** Figures whose bars prove it, by name, as `npm run verify` prints them. */
  readonly figures?: readonly string[];
  /** Why nothing can prove it yet. Such a claim never counts as proven. */
  readonly missing?: string;
}

/** The tables of claims, each proven by the titles that it names. */
export const CLAIMS = { threats: THREATS, findings: FINDINGS, faults: FAULTS } as const satisfies Record<
  string,
  Readonly<Record<string, Claim>>
>;

/** The titles that prove a claim. Tests whose title begins with the id of a threat count for it. */
export function titlesOf(id: string, { tests }: Claim): readonly string[] {
  return /^T\d+$/.test(id) ? [...tests, `${id}:`, `${id} `] : tests;
}

/** The files that have one of the titles. */
export function filesWith(
  titles: readonly string[],
  files: ReturnType<typeof testFiles>,
): ReturnType<typeof testFiles> {
  return files.filter(({ text }) => titles.some((title) => text.includes(quoted(title))));
}

/** Whether a test that ran has this title, whose placeholders may stand for anything. */
export function isTitled(ran: string, title: string): boolean {
  const parts = title.split(/%[a-z]|\$\{[^}]*\}|\$\w+/);
  let at = 0;
  return parts.every((part) => {
    const found = ran.indexOf(part, at);
    at = found + part.length;
    return found !== -1;
  });
}

/** The beginning of a title counts only at the beginning. */
function quoted(title: string): string {
  return /^T\d+[: ]$/.test(title) ? `"${title}` : title;
}
