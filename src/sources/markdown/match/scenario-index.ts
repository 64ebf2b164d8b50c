import { hash } from "node:crypto";
import type { FragmentFile } from "../files/library-file.ts";
import { routePath } from "../files/route-path.ts";
import { toKeywords } from "./keywords.ts";

/** One sentence of a fragment's useWhen. */
export interface Scenario {
  readonly scenario: string;
  readonly keywords: readonly string[];
  /** The address of the fragment, where the library names its scheme. */
  readonly uri?: string;
  /** The file of the fragment. */
  readonly path: string;
  readonly category: string;
  readonly estimatedTokens: number;
  readonly relevance: number;
}

/** Scenarios by their id, and the ids of those that have a keyword. */
export interface ScenarioIndex {
  readonly scenarios: ReadonlyMap<string, Scenario>;
  readonly keywords: ReadonlyMap<string, readonly string[]>;
}

const RELEVANCE = 100;

export function buildScenarioIndex(files: Iterable<FragmentFile>, scheme?: string): ScenarioIndex {
  const scenarios = new Map<string, Scenario>();
  const keywords = new Map<string, string[]>();
  for (const { path, facts } of files) {
    const { category, estimatedTokens } = facts;
    for (const scenario of facts.useWhen) {
      const id = `scenario-${hash("sha256", `${path}\n${scenario}`, "hex").slice(0, 12)}`;
      const words = toKeywords(scenario);
      scenarios.set(id, {
        scenario,
        keywords: words,
        ...(scheme !== undefined && { uri: `@${scheme}://${routePath(path)}` }),
        path,
        category,
        estimatedTokens,
        relevance: RELEVANCE,
      });
      for (const word of words) {
        const sharing = keywords.get(word);
        if (sharing) sharing.push(id);
        else keywords.set(word, [id]);
      }
    }
  }
  return { scenarios, keywords };
}
