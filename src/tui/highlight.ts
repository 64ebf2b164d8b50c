/** A piece of a line of code. */
export interface CodePiece {
  readonly text: string;
  readonly kind: "plain" | "comment" | "string" | "word" | "number";
}

const WORDS = new Set(
  [
    "abstract and as async await begin break case catch class const continue def default defer delete do elif else end",
    "enum except export extends false final finally fn for from func function go if impl import in instanceof",
    "interface is lambda let loop match mod module mut namespace new nil none not null of or package pass private",
    "protected pub public raise readonly return self static struct super switch then this throw trait true try type",
    "typeof undefined unless until use using var void when where while with yield select insert update where",
  ].flatMap((line) => line.split(" ")),
);
/** Languages whose comments start with a hash. */
const HASH =
  /^(?:py|python|rb|ruby|sh|bash|zsh|shell|console|ya?ml|toml|ini|make|makefile|dockerfile|perl|r)$/i;
const PIECES =
  /(\/\/.*|--\s.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|([A-Za-z_$][\w$]*)|(\d[\w.]*)/g;
const PIECES_HASH = new RegExp(PIECES.source.replace(/^\([^)]*\)/, "(#.*)"), "g");
/** Longer lines are no code that a person wrote. */
const MOST_CHARS = 2_000;

/** Splits a line of code for colours. Line by line: a comment or text over several lines stays plain. */
export function highlight(line: string, language: string): CodePiece[] {
  if (line.length > MOST_CHARS || language === "" || /^(?:text|txt|diff)$/i.test(language))
    return [{ text: line, kind: "plain" }];
  const pieces: CodePiece[] = [];
  let at = 0;
  for (const match of line.matchAll(HASH.test(language) ? PIECES_HASH : PIECES)) {
    const [text, comment, string, word] = match;
    if (word !== undefined && !WORDS.has(word.toLowerCase())) continue;
    if (match.index > at) pieces.push({ text: line.slice(at, match.index), kind: "plain" });
    const kind =
      comment !== undefined ? "comment" : string !== undefined ? "string" : word ? "word" : "number";
    pieces.push({ text, kind });
    at = match.index + text.length;
  }
  if (at < line.length) pieces.push({ text: line.slice(at), kind: "plain" });
  return pieces;
}
