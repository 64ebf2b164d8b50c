import type { CallContext } from "../../../schema/entry.ts";
import { oncePer } from "../../../util/once-per.ts";
import type { Fragment, Match } from "./fragment.ts";
import { countPresent, toKeywords, toWordLine } from "./keywords.ts";

export interface Wanted {
  readonly query: string;
  readonly tags?: readonly string[];
  readonly categories?: readonly string[];
  /** The folder of a category's own match address. */
  readonly folder?: string;
  readonly minScore: number;
}

/** Hits of the search that are considered. */
const DEPTH = 200;
const READ_CHARS = 20_000;

/**
 * Ranks the fragments of a library by the catalog's search. A score is the share of the query's keywords that the
 * fragment has, times the root of the hit's share of the best hit, in percent. Every search has a best hit; only
 * the keywords tell whether that hit has anything to do with the query.
 */
export async function findMatches(
  domain: string,
  fragments: ReadonlyMap<string, Fragment>,
  wanted: Wanted,
  find: NonNullable<CallContext["find"]>,
): Promise<Match[]> {
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

/** Required tags and categories disqualify, whatever else matches. */
function isWanted(fragment: Fragment, { tags = [], categories = [], folder }: Wanted): boolean {
  if (folder !== undefined && !isOf(fragment, folder)) return false;
  if (categories.length > 0 && !categories.some((name) => isOf(fragment, name))) return false;
  return tags.every((tag) => fragment.tags.includes(tag.toLowerCase()));
}

/** The spellings that the wanted categories have in this library; undefined where all are wanted. */
function categoriesOf(fragments: ReadonlyMap<string, Fragment>, wanted: Wanted): string[] | undefined {
  const { folder, categories } = wanted;
  if (folder === undefined && !categories?.length) return undefined;
  const among = { ...wanted, tags: [] };
  return [
    ...new Set([...fragments.values()].filter((one) => isWanted(one, among)).map((one) => one.category)),
  ];
}

function isOf({ category, folder }: Fragment, name: string): boolean {
  const key = categoryKey(name);
  return categoryKey(category) === key || categoryKey(folder) === key;
}

/** A folder is called `agents`, and each fragment in it is an `agent`. */
function categoryKey(name: string): string {
  return name.toLowerCase().replace(/s$/, "");
}

const wordLineOf = oncePer((fragment: Fragment): string => {
  const { id, title, description, tags, capabilities, useWhen, body } = fragment;
  const texts = [id, title, description, ...tags, ...capabilities, ...useWhen, body.slice(0, READ_CHARS)];
  return toWordLine(texts.join("\n"));
});
