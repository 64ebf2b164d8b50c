import type { EuroVectors, EuroWord } from "./euro-table.ts";
import { normalize } from "./normalize.ts";

/** Verbs that names of tools begin with. */
const VERBS =
  "create add get read list show search find update edit delete remove send write move rename copy open close merge run download upload".split(
    " ",
  );
/** Words of other languages for such a verb are at least this near to it; others come to half of that. */
const SAME_VERB = 0.6;

/** Finds the verb of tools that a word of another language stands for. */
export function createToolVerbs(
  embed: (text: string) => Float32Array,
  { add }: EuroVectors,
): (word: EuroWord) => string | undefined {
  const verbs = VERBS.map((verb) => ({ verb, vector: embed(verb) }));
  return (word) => {
    const own = new Float32Array(verbs[0]!.vector.length);
    add(word, own);
    normalize(own);
    let best: { readonly verb: string; readonly cosine: number } | undefined;
    for (const { verb, vector } of verbs) {
      const cosine = vector.reduce((sum, value, at) => sum + value * own[at]!, 0);
      if (cosine >= SAME_VERB && cosine > (best?.cosine ?? 0)) best = { verb, cosine };
    }
    return best?.verb;
  };
}
