// The mutation score of each file, as it was when `npm run mutate` measured it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { contentHash } from "../src/util/content-hash.ts";

const SCORES = "test/mutation-scores.json";

export interface MutationScore {
  readonly file: string;
  /** The hash of the file that was measured. */
  readonly hash: string;
  readonly detected: number;
  /** Mutants that a test could detect. */
  readonly valid: number;
}

/** Reads the scores. Those of files that have changed since are not current. */
export function readMutationScores(): (MutationScore & { readonly isCurrent: boolean })[] {
  const scores: MutationScore[] = existsSync(SCORES) ? JSON.parse(readFileSync(SCORES, "utf8")) : [];
  return scores
    .filter(({ file }) => existsSync(file))
    .map((score) => ({ ...score, isCurrent: hashOf(readFileSync(score.file, "utf8")) === score.hash }));
}

/** A report of Stryker, as far as scores need it. */
export interface MutationReport {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly { readonly status: string }[] }>
  >;
}

/** Keeps the scores of a report, and those of files that it lacks. */
export function keepMutationScores({ files }: MutationReport): MutationScore[] {
  const measured = Object.entries(files).map(([file, { source, mutants }]): MutationScore => {
    const count = (...statuses: string[]) => mutants.filter(({ status }) => statuses.includes(status)).length;
    const detected = count("Killed", "Timeout");
    return { file, hash: hashOf(source), detected, valid: detected + count("Survived", "NoCoverage") };
  });
  const others = readMutationScores().filter(({ file }) => !Object.hasOwn(files, file));
  const kept = [...measured, ...others.map(({ isCurrent: _, ...score }) => score)]
    .filter(({ valid }) => valid > 0)
    .sort((left, right) => (left.file < right.file ? -1 : 1));
  writeFileSync(SCORES, `${JSON.stringify(kept, null, 2)}\n`);
  return kept;
}

/** The share of detected mutants in percent, of all that a test could detect. */
export function scoreOf(scores: readonly Pick<MutationScore, "detected" | "valid">[]): {
  value: number;
  of: number;
} {
  const sum = (count: "detected" | "valid") => scores.reduce((all, score) => all + score[count], 0);
  return { value: (100 * sum("detected")) / sum("valid"), of: sum("valid") };
}

function hashOf(source: string): string {
  return contentHash(source).slice(0, 16);
}
