/**
 * Words that carry no intent in a request, by language, folded and in lower case. Looked up for queries only.
 * Words that names are made of (get, list, find, show, search, create, …) are never here, nor is a word that
 * is a word of the trade elsewhere (bin, os, sin).
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

/** True for a folded, lower-case word that a query can lose. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}
