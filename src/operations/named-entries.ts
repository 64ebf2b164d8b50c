import type { View } from "../access/view.ts";
import type { Entry } from "../schema/entry.ts";
import { splitWords } from "../util/split-words.ts";

const MAX_NAME_WORDS = 8;
const MAX_QUERY_WORDS = 200;

/** Words that carry a name in a sentence without being part of what is asked for. */
const CARRIERS = new Set(
  `a an the this that it i me my we us our you your is are be do does can could would should will please use
  using call run invoke try need want like to for with of in on and or tool tools function op operation route
  named called help let lets now`.split(/\s+/),
);

/**
 * The shown entries that a query names: by name, op, route or alias, in any spelling. A name of one plain
 * word counts only where the query is about nothing else, since such words are also just words.
 */
export function namedEntries(query: string, view: View): Entry[] {
  const whole = view.named(query);
  const words = splitWords(query).slice(0, MAX_QUERY_WORDS);
  const content = words.filter((word) => !CARRIERS.has(word));
  const found = new Set(whole);
  let index = 0;
  while (index < words.length) {
    const size = longestName(words, index, view, content);
    if (size > 0)
      for (const entry of view.named(words.slice(index, index + size).join(" "))) found.add(entry);
    index += Math.max(1, size);
  }
  return [...found];
}

function longestName(
  words: readonly string[],
  start: number,
  view: View,
  content: readonly string[],
): number {
  for (let size = Math.min(MAX_NAME_WORDS, words.length - start); size > 0; size--) {
    if (size === 1 && !(content.length === 1 && content[0] === words[start])) return 0;
    if (view.named(words.slice(start, start + size).join(" ")).length > 0) return size;
  }
  return 0;
}
