/** Alphabets whose letters look like those of another one. Greek letters that only look Greek (μ, Ω) mix with all. */
const ALPHABETS = [
  /[\p{sc=Latn}--[\uFF21-\uFF5A]]/v,
  /\p{sc=Cyrl}/v,
  /[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχϲϳ]/v,
  /\p{sc=Armn}/v,
  /\p{sc=Cher}/v,
  /\p{sc=Copt}/v,
  /\p{sc=Lisu}/v,
  // Wide letters, and those of mathematics.
  /[\uFF21-\uFF5A]/v,
  /[\u{1D400}-\u{1D7CB}]/v,
];
/** Only text with one of these can mix alphabets. */
const OTHERS = new RegExp(
  ALPHABETS.slice(1)
    .map(({ source }) => source)
    .join("|"),
  "v",
);
const WORD = /[\p{L}\p{M}\p{Nd}]+/gv;
/** Characters that look like a slash, a dot, a colon or a hyphen, where an address or a path has one. */
const SEPARATOR = /(?<=[A-Za-z0-9])[⁄∕⧸／․．。｡꞉：∶‐‑−](?=[A-Za-z0-9])/gv;

/**
 * Spells out letters that a person would take for others: in a word that mixes alphabets, those of the alphabet that
 * has fewer letters in it. Words in one alphabet stay, and so do languages that mix several, such as Japanese.
 */
export function spellLookalikes(text: string, spell: (character: string) => string): string {
  const separated = text.replace(SEPARATOR, spell);
  return OTHERS.test(separated) ? separated.replace(WORD, (word) => spellFewer(word, spell)) : separated;
}

function spellFewer(word: string, spell: (character: string) => string): string {
  const letters = [...word].map((letter) => ({
    letter,
    alphabet: ALPHABETS.findIndex((one) => one.test(letter)),
  }));
  const known = Map.groupBy(
    letters.filter(({ alphabet }) => alphabet >= 0),
    ({ alphabet }) => alphabet,
  );
  if (known.size < 2) return word;
  // Of two that have equally many, the one further down is spelt out.
  const [most] = [...known].toSorted(([left, a], [right, b]) => b.length - a.length || left - right)[0]!;
  return letters
    .map(({ letter, alphabet }) => (alphabet < 0 || alphabet === most ? letter : spell(letter)))
    .join("");
}
