import { type Compound, foldAccents, splitCompounds } from "./split-compounds.ts";

/** Longest term in UTF-16 units. Longer terms are cut. */
export const MAX_TERM = 40;

export interface Term {
  readonly text: string;
  /** The word in lower case before stemming, to look up stop words. */
  readonly word: string;
  /**
   * Whether it adds no length: the joined form of a compound (`getuserinfo`), or one Han character besides its pairs.
   */
  readonly joined: boolean;
}

/** The terms of a text in order, of at most `limit` written words. Takes any string, in linear time. */
export function analyze(text: string, limit = Number.POSITIVE_INFINITY): Term[] {
  const terms: Term[] = [];
  for (const compound of splitCompounds(foldAccents(text), limit)) pushTerms(compound, terms, limit);
  return terms;
}

/** Adds the terms of one compound. */
export function pushTerms(
  compound: Pick<Compound, "parts" | "unspaced">,
  terms: Term[],
  limit = Number.POSITIVE_INFINITY,
): void {
  if (compound.unspaced) {
    pushBigrams(compound.parts[0]!, terms, limit);
    return;
  }
  let joined = "";
  for (const part of compound.parts) {
    const word = cutTerm(part.toLowerCase());
    terms.push({ text: stem(word), word, joined: false });
    if (joined.length <= MAX_TERM) joined += word;
  }
  if (compound.parts.length < 2 || joined.length > MAX_TERM) return;
  terms.push({ text: stem(joined), word: joined, joined: true });
}

function pushBigrams(run: string, terms: Term[], limit: number): void {
  const characters = Array.from(run.length > limit ? run.slice(0, limit) : run);
  if (characters.length === 1) terms.push({ text: run, word: run, joined: false });
  else pushSingles(characters, terms);
  for (let at = 1; at < characters.length; at++) {
    const bigram = `${characters[at - 1]}${characters[at]}`;
    terms.push({ text: bigram, word: bigram, joined: false });
  }
}

/** A Han character is often a word: a term besides the pairs, like joined forms besides words. */
function pushSingles(characters: readonly string[], terms: Term[]): void {
  for (const character of characters) {
    if (HAN.test(character)) terms.push({ text: character, word: character, joined: true });
  }
}

const HAN = /^\p{Script=Han}$/u;

function cutTerm(word: string): string {
  return word.length > MAX_TERM ? word.slice(0, MAX_TERM) : word;
}

/**
 * Reduces English inflections of a folded, lower-case word to one stem. Deliberately light: it changes only plain Latin
 * words, works alike for documents and queries, and leaves at least three letters, so that words of other languages
 * stay distinct.
 */
export function stem(word: string): string {
  if (word.length < 4 || !LATIN.test(word)) return word;
  let root = singular(word);
  root = withoutTense(root);
  const match = ENDINGS.find(([ending]) => root.length - ending.length >= 3 && root.endsWith(ending));
  if (match !== undefined) root = root.slice(0, root.length - match[0].length) + match[1];
  if (root.length > 3 && root.endsWith("e")) root = root.slice(0, -1);
  if (root.length > 3 && root.endsWith("y")) root = `${root.slice(0, -1)}i`;
  return root;
}

const LATIN = /^[a-z]+$/;
const VOWEL = /[aeiouy]/;

/** Longest first: the first match is used. */
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

/**
 * Words without intent in a request, by language, folded and in lower case. Used for queries only. Never includes words
 * of names (get, list, find, show, search, create, …), or words that are technical terms in another language (bin, os,
 * sin).
 */
const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    // English
    "a an the this that these those there here it its itself is am are was were be been being do does did doing",
    "done i you he she we they me him her us them my your his our their yours myself yourself",
    "s t m d ll re ve don isn aren wasn doesn didn won wouldn couldn shouldn",
    "can could would should will shall may might must to of in on at by for from with without within into onto",
    "about as than then so if or and but not no nor what which who whom whose when where why how whether while",
    "because since until also just only very too much many some any each other another such both either own same",
    "more most please thanks thank hi hello hey ok okay want wants wanted wanting need needs needed needing like",
    "looking wish love help helps helping let lets know tell give gives given giving provide provides providing",
    "able currently really actually have has had having got going up out off over under again",
    // German
    "der die das den dem des ein eine einen einem einer eines und oder aber nicht ist sind waren wird werden",
    "ich er sie wir ihr mich mir dich dir uns euch mein meine meinen meiner dein deine sein seine zu zum zur im vom",
    "von ohne fur auf aus bei nach uber unter wie wer wo wann warum welche welcher welches kann kannst konnen",
    "mochte will bitte danke brauche auch noch nur schon sehr",
    // French
    "le la les un une des de et ou mais ne pas sont etait suis je tu il elle nous vous ils elles mon ma mes ton",
    "ta tes son sa ses notre votre leur au aux dans sur pour avec sans par que qui quoi quel quelle comment pourquoi",
    "peux peut pouvez voudrais veux besoin merci plait ce cette ces c j l n qu y",
    // Spanish, Portuguese, Italian
    "el los las una unos unas y e o pero es son estoy yo tu ella nosotros mi mis su sus al en por para con",
    "que quien cual como cuando donde porque puedo puede puedes quiero necesito favor gracias lo se este esta estos",
    "as um uma do da das no na nos nas ao ou mas nao sao eu ele voce meu minha seu sua com sem onde",
    "posso pode quero preciso obrigado il gli dei della delle di che chi non sono io mio mia suo per da nel nella",
    "vorrei voglio bisogno grazie questo questa",
    // Dutch
    "het een en van op te dat deze niet ik jij hij wij mijn jouw zijn wil graag kun kunt",
    // Chinese: single characters, which stand beside the pairs that they are part of
    "的 了 我 你 您 他 她 它 们 是 在 有 和 与 及 或 就 不 都 也 很 还 又 这 那 个 些 一 请 帮 想 要 能 可 以 会 吗 呢 吧 啊 把 被 给 对 为 从 到 让 用 来 去 上 下 中 里 年 月 日 号 什 么 怎 样 何 哪 几 多 少 需 我 所 其 之 于 而 且 但 如 果 因 并 将 已 没 最",
    // Russian
    "и в на с по к о у из за от до для не что это как я ты он она мы вы они мне меня мой моя мои нам нас его ее их бы",
    "же ли или но а то так где когда кто какой можно нужно хочу пожалуиста спасибо",
  ]
    .join(" ")
    .split(" "),
);

/** Whether a folded, lower-case word can be dropped from a query. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}
