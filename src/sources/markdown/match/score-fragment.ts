import type { Fragment, Match } from "./fragment.ts";

const CATEGORY = 15;
const TAG = 10;
const CAPABILITY = 8;
const USE_WHEN = 5;
const SMALL = 5;
const SMALL_TOKENS = 1_000;

export interface Wanted {
  readonly tags?: readonly string[];
  readonly categories?: readonly string[];
  readonly minScore: number;
}

/** The fragments that match, best first; of equals the one whose route comes first. */
export function matchFragments(
  fragments: readonly Fragment[],
  keywords: readonly string[],
  wanted: Wanted,
): Match[] {
  return fragments
    .filter((fragment) => isWanted(fragment, wanted))
    .map((fragment) => ({ fragment, score: scoreFragment(fragment, keywords, wanted) }))
    .filter(({ score }) => score >= wanted.minScore)
    .sort(byScore);
}

/** A keyword counts once in each of tags, capabilities and useWhen, wherever in a word it is found. */
export function scoreFragment(
  fragment: Fragment,
  keywords: readonly string[],
  { categories }: Pick<Wanted, "categories">,
): number {
  const texts = textsOf(fragment);
  let score = categories?.length ? CATEGORY : 0;
  if (fragment.estimatedTokens < SMALL_TOKENS) score += SMALL;
  for (const keyword of keywords) {
    if (texts.tags.includes(keyword)) score += TAG;
    if (texts.capabilities.includes(keyword)) score += CAPABILITY;
    if (texts.useWhen.includes(keyword)) score += USE_WHEN;
  }
  return score;
}

/** Required tags and categories disqualify, whatever else matches. */
export function isWanted({ tags, category }: Fragment, wanted: Omit<Wanted, "minScore">): boolean {
  const inCategory =
    !wanted.categories?.length ||
    wanted.categories.some((name) => categoryKey(name) === categoryKey(category));
  return inCategory && (wanted.tags ?? []).every((tag) => tags.includes(tag.toLowerCase()));
}

export function byScore(one: Match, other: Match): number {
  return other.score - one.score || (one.fragment.route < other.fragment.route ? -1 : 1);
}

/** Folders are called `agents`, and what is in one of them an `agent`. */
function categoryKey(name: string): string {
  return name.toLowerCase().replace(/s$/, "");
}

interface Texts {
  readonly tags: string;
  readonly capabilities: string;
  readonly useWhen: string;
}

const known = new WeakMap<Fragment, Texts>();

/** Keywords have no line break in them, so that a list of texts can be searched as one. */
function textsOf(fragment: Fragment): Texts {
  let texts = known.get(fragment);
  if (texts === undefined) {
    const join = (list: readonly string[]) => list.join("\n").normalize("NFC").toLowerCase();
    texts = {
      tags: join(fragment.tags),
      capabilities: join(fragment.capabilities),
      useWhen: join(fragment.useWhen),
    };
    known.set(fragment, texts);
  }
  return texts;
}
