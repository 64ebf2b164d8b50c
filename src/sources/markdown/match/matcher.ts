import { LRUCache } from "lru-cache";
import type { Principal } from "../../../schema/principal.ts";
import { maySee } from "../../../util/may-see.ts";
import { loadTokenCounter } from "../../../util/tokens.ts";
import type { Fragment } from "./fragment.ts";
import { toKeywords } from "./keywords.ts";
import type { MatchParams } from "./match-params.ts";
import { type IndexLine, renderCatalog, renderFull, renderIndex } from "./render-match.ts";
import { findScenarios, type ScenarioIndex } from "./scenario-index.ts";
import { byScore, isWanted, matchFragments } from "./score-fragment.ts";
import { selectWithinBudget } from "./select-within-budget.ts";

/** How often each tier has answered a lookup in index mode. */
export interface LookupStatistics {
  /** The same question was answered before. */
  quick: number;
  /** Scenarios that share keywords were enough. */
  keywords: number;
  /** All fragments were scored. */
  full: number;
}

export interface Matcher {
  match(params: MatchParams, principal: Principal): Promise<string>;
}

const QUICK_KEPT = 1_000;
const QUICK_MS = 15 * 60 * 1_000;
const ANSWERS_KEPT = 200;
const ANSWER_MS = 4 * 60 * 60 * 1_000;
const SIGHTS_KEPT = 64;
/** With fewer by keywords, all fragments are scored. */
const LEAST_RESULTS = 2;

/** Matches over one state of a library: a change makes another one, so that no cache outlives its files. */
export function createMatcher(
  fragments: readonly Fragment[],
  loadIndex: () => Promise<ScenarioIndex>,
  statistics: LookupStatistics,
): Matcher {
  const scoped = [...new Set(fragments.flatMap(({ scopes }) => scopes))].sort();
  const sights = new LRUCache<string, readonly Fragment[]>({ max: SIGHTS_KEPT });
  const quick = new LRUCache<string, string>({ max: QUICK_KEPT, ttl: QUICK_MS });
  const answers = new LRUCache<string, string>({ max: ANSWERS_KEPT, ttl: ANSWER_MS, updateAgeOnGet: true });

  let index: Promise<ScenarioIndex> | undefined;

  /** However many ask at the same time, it is loaded once. */
  function scenarios(): Promise<ScenarioIndex> {
    index ??= loadIndex();
    return index;
  }

  async function lookUp(params: MatchParams, visible: readonly Fragment[]): Promise<string> {
    const keywords = toKeywords(params.query);
    const found = findScenarios(await scenarios(), keywords);
    const lines: IndexLine[] = visible.flatMap((fragment) => {
      const best = found.get(fragment.path);
      if (!best || best.score < params.minScore || !isWanted(fragment, params)) return [];
      return [{ fragment, score: best.score, reason: best.scenario }];
    });
    const enough = lines.length >= LEAST_RESULTS;
    statistics[enough ? "keywords" : "full"] += 1;
    const shown = enough ? lines.sort(byScore) : matchFragments(visible, keywords, params).map(withReason);
    return renderIndex(shown, params.maxResults, await loadTokenCounter());
  }

  async function assemble(params: MatchParams, visible: readonly Fragment[]): Promise<string> {
    const matches = matchFragments(visible, toKeywords(params.query), params);
    if (params.mode === "full") return renderFull(selectWithinBudget(matches, params.maxTokens));
    return renderCatalog(matches, params, await loadTokenCounter());
  }

  return {
    match: async (params, principal) => {
      const held = scoped.filter((scope) => principal.scopes.includes(scope));
      const sight = JSON.stringify(held);
      const visible = sights.get(sight) ?? fragments.filter((fragment) => maySee(principal, fragment));
      sights.set(sight, visible);
      const isLookup = params.mode === "index";
      const kept = isLookup ? quick : answers;
      const key = JSON.stringify([sight, keyOf(params)]);
      const known = kept.get(key);
      if (known !== undefined) {
        if (isLookup) statistics.quick += 1;
        return known;
      }
      const answer = isLookup ? await lookUp(params, visible) : await assemble(params, visible);
      kept.set(key, answer);
      return answer;
    },
  };
}

/** Questions that mean the same have the same key. */
function keyOf({ query, tags = [], categories = [], ...rest }: MatchParams): unknown[] {
  const { mode, maxTokens, maxResults, minScore } = rest;
  return [
    toKeywords(query).sort(),
    [...tags].sort(),
    [...categories].sort(),
    mode,
    maxTokens,
    maxResults,
    minScore,
  ];
}

function withReason(match: Omit<IndexLine, "reason">): IndexLine {
  return { ...match, reason: match.fragment.useWhen[0] ?? match.fragment.description };
}
