import { hash } from "node:crypto";
import type { FragmentFile } from "../files/library-file.ts";
import { toKeywords } from "./keywords.ts";

/** One sentence of a fragment's useWhen. */
export interface Scenario {
  readonly scenario: string;
  readonly keywords: readonly string[];
  /** The file of the fragment. */
  readonly path: string;
  readonly category: string;
  readonly estimatedTokens: number;
}

/** Scenarios by their id, and the ids of those that have a keyword. */
export interface ScenarioIndex {
  readonly scenarios: ReadonlyMap<string, Scenario>;
  readonly keywords: ReadonlyMap<string, readonly string[]>;
}

const EXACT = 20;
const PARTIAL = 10;
const LEAST_PART = 3;

export function buildScenarioIndex(files: Iterable<FragmentFile>): ScenarioIndex {
  const scenarios = new Map<string, Scenario>();
  const keywords = new Map<string, string[]>();
  for (const { path, facts } of files) {
    const { category, estimatedTokens } = facts;
    for (const scenario of facts.useWhen) {
      const id = `scenario-${hash("sha256", `${path}\n${scenario}`, "hex").slice(0, 12)}`;
      const words = toKeywords(scenario);
      scenarios.set(id, { scenario, keywords: words, path, category, estimatedTokens });
      for (const word of words) {
        const sharing = keywords.get(word);
        if (sharing) sharing.push(id);
        else keywords.set(word, [id]);
      }
    }
  }
  return { scenarios, keywords };
}

/** The best scenario of each fragment that shares a keyword with the query, by the fragment's file. */
export function findScenarios(
  { scenarios, keywords }: ScenarioIndex,
  query: readonly string[],
): Map<string, { readonly scenario: string; readonly score: number }> {
  const ids = new Set(query.flatMap((keyword) => keywords.get(keyword) ?? []));
  const best = new Map<string, { scenario: string; score: number }>();
  for (const id of ids) {
    const found = scenarios.get(id);
    if (!found) continue;
    const score = scoreScenario(found, query);
    if (score > (best.get(found.path)?.score ?? 0)) best.set(found.path, { scenario: found.scenario, score });
  }
  return best;
}

function scoreScenario({ keywords }: Scenario, query: readonly string[]): number {
  let score = 0;
  for (const word of query) {
    if (keywords.includes(word)) score += EXACT;
    else if (word.length >= LEAST_PART && keywords.some((keyword) => isPart(keyword, word))) score += PARTIAL;
  }
  return score;
}

function isPart(keyword: string, word: string): boolean {
  return keyword.includes(word) || (keyword.length >= LEAST_PART && word.includes(keyword));
}
