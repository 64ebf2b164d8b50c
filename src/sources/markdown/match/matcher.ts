import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { JsonSchema } from "../../../base/json-schema/json-schema.ts";
import { loadTokenCounter } from "../../../base/tokens/tokens.ts";
import { memoizeByObject } from "../../../base/util/memoize-by-object.ts";
import type { CallContext } from "../../../core/nouns/entry.ts";
import { countPresent, toKeywords, toWordLine } from "../files/keywords.ts";
import { type Fragment, type FragmentMatch, renderCatalog, renderFull, renderIndex } from "./render-match.ts";

/** How lookups in mode `index` were answered. */
export interface LookupStatistics {
  /** From an earlier answer to the same question. */
  quick: number;
  /** By a search. */
  searched: number;
}

const QUICK_KEPT = 1_000;
const QUICK_MS = 15 * 60 * 1_000;
const ANSWERS_KEPT = 200;
const ANSWER_MS = 4 * 60 * 60 * 1_000;

/**
 * Matches queries against one state of a library; with a folder, only against fragments of that category. Every change
 * creates a new matcher, so no answer outlives its files.
 */
export function createMatcher(
  domain: string,
  fragments: ReadonlyMap<string, Fragment>,
  statistics: LookupStatistics,
): (params: MatchParams, context: CallContext, folder?: string) => Promise<string> {
  const scoped = [...new Set([...fragments.values()].flatMap(({ scopes }) => scopes))].sort();
  const quick = new LRUCache<string, string>({ max: QUICK_KEPT, ttl: QUICK_MS });
  const answers = new LRUCache<string, string>({ max: ANSWERS_KEPT, ttl: ANSWER_MS, updateAgeOnGet: true });

  async function answer(params: MatchParams, context: CallContext, folder?: string): Promise<string> {
    const matches = await findMatches(domain, fragments, { ...params, folder }, context.find ?? findAll);
    const countTokens = await loadTokenCounter();
    if (params.mode === "full") return renderFull(matches, params.maxTokens, countTokens);
    if (params.mode === "catalog") return renderCatalog(matches, params, countTokens);
    return renderIndex(matches, toKeywords(params.query), params.maxResults, countTokens);
  }

  /** Replaces the search if a call has none: keywords alone rank. */
  async function findAll() {
    return [...fragments.keys()].map((route) => ({ route, score: 1 }));
  }

  return async (params, context, folder) => {
    const held = scoped.filter((scope) => context.principal.scopes.includes(scope));
    const isLookup = params.mode === "index";
    const cache = isLookup ? quick : answers;
    const key = JSON.stringify([held, folder ?? null, keyOf(params)]);
    const cached = cache.get(key);
    if (isLookup) statistics[cached === undefined ? "searched" : "quick"] += 1;
    const text = cached ?? (await answer(params, context, folder));
    cache.set(key, text);
    if (!isLookup) context.showUpTo?.(params.maxTokens);
    return text;
  };
}

/** Equivalent queries have the same key. */
function keyOf({ query, tags = [], categories = [], ...others }: MatchParams): unknown[] {
  const { mode, maxTokens, maxResults, minScore } = others;
  const lists = [toKeywords(query).sort(), tags.toSorted(), categories.toSorted()];
  return [...lists, mode, maxTokens, maxResults, minScore];
}

interface MatchRequest extends Pick<MatchParams, "query" | "tags" | "categories" | "minScore"> {
  /** Folder of a category's own match address. */
  readonly folder?: string | undefined;
}

/** Hits of the search that are considered. */
const DEPTH = 200;
const READ_CHARS = 20_000;

/**
 * Ranks the fragments of a library by the catalog's search. A score is the share of the query's keywords in the
 * fragment, times the root of the hit's score relative to the best hit, in percent. Every search has a best hit; only
 * the keywords show whether it is related to the query.
 */
export async function findMatches(
  domain: string,
  fragments: ReadonlyMap<string, Fragment>,
  wanted: MatchRequest,
  find: NonNullable<CallContext["find"]>,
): Promise<FragmentMatch[]> {
  const keywords = toKeywords(wanted.query);
  if (keywords.length === 0) return [];
  const categories = categoriesOf(fragments, wanted);
  if (categories?.length === 0) return [];
  const hits = await find({
    query: wanted.query,
    domain,
    kinds: ["resource"],
    ...(categories && { categories }),
    ...(wanted.tags?.length && { tags: wanted.tags.map((tag) => tag.toLowerCase()) }),
    limit: DEPTH,
  });
  const best = Math.max(...hits.map(({ score }) => score));
  return hits
    .flatMap(({ route, score }) => {
      const fragment = fragments.get(route);
      if (!fragment || !isWanted(fragment, wanted)) return [];
      const share = countPresent(keywords, wordLineOf(fragment)) / keywords.length;
      return [{ fragment, score: Math.round(100 * share * Math.sqrt(score / best)) }];
    })
    .filter(({ score }) => score >= Math.max(1, wanted.minScore))
    .sort((one, other) => other.score - one.score);
}

/** Required tags and categories exclude fragments, whatever else matches. */
function isWanted(fragment: Fragment, { tags = [], categories = [], folder }: MatchRequest): boolean {
  if (folder !== undefined && !isOf(fragment, folder)) return false;
  if (categories.length > 0 && !categories.some((name) => isOf(fragment, name))) return false;
  return tags.every((tag) => fragment.tags.includes(tag.toLowerCase()));
}

/** The spellings of the wanted categories in this library; undefined for all categories. */
function categoriesOf(fragments: ReadonlyMap<string, Fragment>, request: MatchRequest): string[] | undefined {
  if (request.folder === undefined && !request.categories?.length) return undefined;
  const among = [...fragments.values()].filter((one) => isWanted(one, { ...request, tags: [] }));
  return [...new Set(among.map(({ category }) => category))];
}

function isOf({ category, folder }: Fragment, name: string): boolean {
  const key = categoryKey(name);
  return categoryKey(category) === key || categoryKey(folder) === key;
}

/** A folder is called `agents`, each fragment in it an `agent`. */
function categoryKey(name: string): string {
  return name.toLowerCase().replace(/s$/, "");
}

const wordLineOf = memoizeByObject((fragment: Fragment): string => {
  const { id, title, description, tags, capabilities, useWhen, body } = fragment;
  const texts = [id, title, description, ...tags, ...capabilities, ...useWhen, body.slice(0, READ_CHARS)];
  return toWordLine(texts.join("\n"));
});

const names = z.array(z.string()).max(32).optional();
const matchParams = z.strictObject({
  query: z.string().min(1).max(1_000).describe("The need, in words"),
  mode: z
    .enum(["index", "catalog", "full"])
    .default("catalog")
    .describe("index: the best addresses; catalog: the use of each; full: the texts themselves"),
  maxTokens: z.int().min(1).max(200_000).default(3_000).describe("Budget of the answer"),
  tags: names.describe("Only fragments with all of these tags"),
  categories: names.describe("Only fragments of these categories"),
  maxResults: z.int().min(1).max(100).default(15),
  minScore: z.number().min(0).default(10).describe("Matches of a lower score, 0 to 100, are left out"),
});

/** The parameters of a match, with defaults. */
export type MatchParams = Readonly<z.infer<typeof matchParams>>;

/** Schema of the parameters of `match`. The catalog fills in the defaults. */
export const MATCH_SCHEMA = z.toJSONSchema(matchParams, { io: "input" }) as JsonSchema;
