import { LRUCache } from "lru-cache";
import type { CallContext } from "../../../schema/entry.ts";
import { loadTokenCounter } from "../../../util/tokens.ts";
import { findMatches } from "./find-matches.ts";
import type { Fragment } from "./fragment.ts";
import { toKeywords } from "./keywords.ts";
import type { MatchParams } from "./match-params.ts";
import { renderCatalog, renderFull, renderIndex } from "./render-match.ts";

/** How lookups in mode `index` were answered. */
export interface LookupStatistics {
  /** From an earlier answer to the same question. */
  quick: number;
  /** By a search. */
  searched: number;
}

export interface Matcher {
  /** With a folder, only fragments of that category match. */
  match(params: MatchParams, context: CallContext, folder?: string): Promise<string>;
}

const QUICK_KEPT = 1_000;
const QUICK_MS = 15 * 60 * 1_000;
const ANSWERS_KEPT = 200;
const ANSWER_MS = 4 * 60 * 60 * 1_000;

/** Answers matches over one state of a library. A change makes a new matcher, so no answer outlives its files. */
export function createMatcher(
  domain: string,
  fragments: ReadonlyMap<string, Fragment>,
  statistics: LookupStatistics,
): Matcher {
  const scoped = [...new Set([...fragments.values()].flatMap(({ scopes }) => scopes))].sort();
  const quick = new LRUCache<string, string>({ max: QUICK_KEPT, ttl: QUICK_MS });
  const answers = new LRUCache<string, string>({ max: ANSWERS_KEPT, ttl: ANSWER_MS, updateAgeOnGet: true });

  async function answer(params: MatchParams, context: CallContext, folder?: string): Promise<string> {
    const wanted = { ...params, ...(folder !== undefined && { folder }) };
    const matches = await findMatches(domain, fragments, wanted, context.find ?? (() => findAll(fragments)));
    const countTokens = await loadTokenCounter();
    if (params.mode === "full") return renderFull(matches, params.maxTokens, countTokens);
    if (params.mode === "catalog") return renderCatalog(matches, params, countTokens);
    return renderIndex(matches, toKeywords(params.query), params.maxResults, countTokens);
  }

  return {
    match: async (params, context, folder) => {
      const held = scoped.filter((scope) => context.principal.scopes.includes(scope));
      const isLookup = params.mode === "index";
      const kept = isLookup ? quick : answers;
      const key = JSON.stringify([held, folder ?? null, keyOf(params)]);
      const known = kept.get(key);
      if (isLookup) statistics[known === undefined ? "searched" : "quick"] += 1;
      const text = known ?? (await answer(params, context, folder));
      kept.set(key, text);
      if (!isLookup) context.showUpTo?.(params.maxTokens);
      return text;
    },
  };
}

/** Stands in for the search where a call has none: the keywords alone rank. */
async function findAll(fragments: ReadonlyMap<string, Fragment>) {
  return [...fragments.keys()].map((route) => ({ route, score: 1 }));
}

/** Questions of the same meaning have the same key. */
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
