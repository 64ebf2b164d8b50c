const ASCII = /^[\0-\x7f]*$/;

/** Marks that only colour a letter (Latin, Greek, Cyrillic accents, Hebrew and Arabic vowel points). */
const ACCENTS = /[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u065f\u0670]/g;

/** Letters that Unicode does not take apart although people type them without their mark. */
const LETTERS = /[ßẞøØæÆœŒłŁđĐðÐþÞıŧŦħĦ]/g;
const PLAIN: ReadonlyMap<string, string> = new Map([
  ["ß", "ss"],
  ["ẞ", "SS"],
  ["ø", "o"],
  ["Ø", "O"],
  ["æ", "ae"],
  ["Æ", "AE"],
  ["œ", "oe"],
  ["Œ", "OE"],
  ["ł", "l"],
  ["Ł", "L"],
  ["đ", "d"],
  ["Đ", "D"],
  ["ð", "d"],
  ["Ð", "D"],
  ["þ", "th"],
  ["Þ", "TH"],
  ["ı", "i"],
  ["ŧ", "t"],
  ["Ŧ", "T"],
  ["ħ", "h"],
  ["Ħ", "H"],
]);

/** Drops accents and compatibility forms (full width, ligatures) and keeps case, which word splitting needs. */
export function foldAccents(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .normalize("NFKD")
    .replace(ACCENTS, "")
    .normalize("NFC")
    .replace(LETTERS, (letter) => PLAIN.get(letter) ?? letter);
}
