/**
 * Brings English inflections of a folded, lower-case word to one stem. Light on purpose: it works on plain
 * Latin words only, applies alike to documents and queries, and leaves a stem of at least three letters, so
 * words of other languages stay apart.
 */
export function stem(word: string): string {
  if (word.length < 4 || !LATIN.test(word)) return word;
  let root = singular(word);
  root = withoutTense(root);
  const found = ENDINGS.find(([ending]) => root.length - ending.length >= 3 && root.endsWith(ending));
  if (found !== undefined) root = root.slice(0, root.length - found[0].length) + found[1];
  if (root.length > 3 && root.endsWith("e")) root = root.slice(0, -1);
  if (root.length > 3 && root.endsWith("y")) root = `${root.slice(0, -1)}i`;
  return root;
}

const LATIN = /^[a-z]+$/;
const VOWEL = /[aeiouy]/;

/** Longest first: the first that fits is taken. */
const ENDINGS: readonly (readonly [string, string])[] = [
  ["ization", "iz"],
  ["isation", "iz"],
  ["izer", "iz"],
  ["iser", "iz"],
  ["ation", "at"],
  ["ator", "at"],
  ["ition", "it"],
  ["itor", "it"],
  ["ction", "ct"],
  ["ctor", "ct"],
  ["ssion", "ss"],
  ["sion", "s"],
  ["tion", "t"],
  ["ysis", "ys"],
  ["yzer", "ys"],
  ["yser", "ys"],
  ["yze", "ys"],
  ["yz", "ys"],
  ["ment", ""],
  ["ness", ""],
  ["ise", "iz"],
  ["ize", "iz"],
  ["er", ""],
  ["ly", ""],
];

function singular(word: string): string {
  if (!word.endsWith("s") || word.endsWith("ss") || word.endsWith("us") || word.endsWith("is")) return word;
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

function withoutTense(word: string): string {
  const ending = word.endsWith("ing") ? 3 : word.endsWith("ed") ? 2 : 0;
  if (ending === 0 || word.length - ending < 3) return word;
  const root = word.slice(0, -ending);
  if (!VOWEL.test(root)) return word;
  if (root.endsWith("i")) return `${root.slice(0, -1)}y`;
  const last = root[root.length - 1];
  const doubled = last === root[root.length - 2] && last !== "l" && last !== "s" && last !== "z";
  return doubled ? root.slice(0, -1) : root;
}
