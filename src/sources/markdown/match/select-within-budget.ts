import type { Match } from "./fragment.ts";

const ALWAYS = 3;
const ENOUGH = 0.8;

/**
 * The best three whatever they cost, then what still fits, until four fifths of the budget are used.
 * Expects the best first.
 */
export function selectWithinBudget(matches: readonly Match[], maxTokens: number): Match[] {
  const selected: Match[] = [];
  let used = 0;
  for (const match of matches) {
    const cost = match.fragment.estimatedTokens;
    const always = selected.length < ALWAYS;
    if (always || used + cost <= maxTokens) {
      selected.push(match);
      used += cost;
    }
    if (!always && used > maxTokens * ENOUGH) break;
  }
  return selected;
}
