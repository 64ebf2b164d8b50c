import type { View } from "../access/view.ts";
import type { Entry } from "../schema/entry.ts";
import { splitWords } from "../util/split-words.ts";

const MAX_NAME_WORDS = 16;
const MAX_QUERY_WORDS = 200;

/** Words that carry a name in a sentence without being part of what is asked for. */
const CARRIERS = new Set(
  `a an the this that it i me my we us our you your is are be do does can could would should will please use
  using call run invoke try need want like to for with of in on and or tool tools function op operation route
  named called help let lets now`.split(/\s+/),
);

/** Words after which a plain word is meant as a name. */
const CUES = new Set(["use", "using", "call", "run", "invoke", "execute"]);

const SCRIPT_BORDER =
  /(?<=[\p{Script=Latin}\p{N}])(?=[\p{Script=Han}\p{Script=Hangul}])|(?<=[\p{Script=Han}\p{Script=Hangul}])(?=[\p{Script=Latin}\p{N}])/gu;

export interface NamedEntry {
  readonly entry: Entry;
  /** How many words of the query name it. */
  readonly words: number;
}

/**
 * The shown entries that a query names: by name, op, route or alias, in any spelling, those of longer names
 * first. A name of one plain word counts only where it is called for or the query is about nothing else,
 * since such words are also just words.
 */
export function namedEntries(query: string, view: View): NamedEntry[] {
  const words = splitWords(query.replace(SCRIPT_BORDER, " ")).slice(0, MAX_QUERY_WORDS);
  const content = words.filter((word) => !CARRIERS.has(word));
  const found = new Map<Entry, NamedEntry>();
  const take = (start: number, size: number) => {
    for (const entry of view.named(words.slice(start, start + size))) {
      if (!found.has(entry)) found.set(entry, { entry, words: size });
    }
  };
  take(0, words.length);
  for (let size = Math.min(MAX_NAME_WORDS, words.length); size > 1; size--) {
    for (let start = 0; start + size <= words.length; start++) take(start, size);
  }
  for (const [place, word] of words.entries()) {
    const cued = CUES.has(words[place - 1] ?? "") || words[place + 1] === "tool";
    if (cued || content.length === 0 || (content.length === 1 && content[0] === word)) take(place, 1);
  }
  return [...found.values()];
}
