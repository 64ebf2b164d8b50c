import type { EuroVectors, EuroWord } from "./euro-table.ts";
import { normalize } from "./normalize.ts";

/** Verbs that names of tools begin with. */
const VERBS =
  "create add get read list show search find update edit delete remove send write move rename copy open close merge run download upload".split(
    " ",
  );
/** Words of other languages for such a verb are at least this near to it; others come to half of that. */
const SAME_VERB = 0.6;

/** Verbs this much less near are meant too: "suchen" is to search and to find. */
const NEXT = 0.1;

/** Finds the verbs of tools that a word of another language stands for. Most words stand for none. */
export function createToolVerbs(
  embed: (text: string) => Float32Array,
  { add }: EuroVectors,
): (word: EuroWord) => readonly string[] {
  const verbs = VERBS.map((verb) => ({ verb, vector: embed(verb) }));
  return (word) => {
    const own = new Float32Array(verbs[0]!.vector.length);
    add(word, own);
    normalize(own);
    const near = verbs.map(({ verb, vector }) => ({ verb, cosine: dot(vector, own) }));
    const best = Math.max(...near.map(({ cosine }) => cosine));
    return near.filter(({ cosine }) => cosine >= SAME_VERB && cosine >= best - NEXT).map(({ verb }) => verb);
  };
}

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0);
}
