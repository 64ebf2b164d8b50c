/** The id of `[UNK]`, which stands for a word without a match. */
export const UNKNOWN_PIECE = 100;

export interface WordPieceTokenizer {
  /** The ids of the text's word pieces, at most `limit`, without `[CLS]` and `[SEP]`. */
  tokenize(text: string, limit?: number): number[];
  /** Whether a folded word is one piece. */
  hasWord(word: string): boolean;
}

/** BERT's uncased tokenizer; the position of a piece in the vocabulary is its id. */
export function createWordPiece(vocabulary: readonly string[]): WordPieceTokenizer {
  const heads = new Map<string, number>();
  const tails = new Map<string, number>();
  let longest = 0;
  for (const [id, piece] of vocabulary.entries()) {
    const isTail = piece.length > 2 && piece.startsWith("##");
    const text = isTail ? piece.slice(2) : piece;
    (isTail ? tails : heads).set(text, id);
    longest = Math.max(longest, text.length);
  }

  function pushPieces(word: string, ids: number[]): void {
    const before = ids.length;
    let start = word.length > LONGEST_WORD ? -1 : 0;
    while (start >= 0 && start < word.length) {
      const pieces = start === 0 ? heads : tails;
      let end = Math.min(word.length, start + longest);
      let id: number | undefined;
      while (end > start) {
        id = pieces.get(word.slice(start, end));
        if (id !== undefined) break;
        end--;
      }
      if (id === undefined) break;
      ids.push(id);
      start = end;
    }
    if (start === word.length) return;
    ids.length = before;
    ids.push(UNKNOWN_PIECE);
  }

  return {
    hasWord: (word) => heads.has(word),
    tokenize(text, limit = Number.POSITIVE_INFINITY) {
      const ids: number[] = [];
      for (const [word] of clean(text).matchAll(WORDS)) {
        if (ids.length >= limit) break;
        pushPieces(word, ids);
      }
      if (ids.length > limit) ids.length = limit;
      return ids;
    },
  };
}

/** Longer words are unknown, as in BERT; it also bounds the search for pieces. */
const LONGEST_WORD = 100;
const PLAIN = /^[\t\n\r\x20-\x7e]*$/;
export const CONTROLS = /(?![\t\n\r])[\p{C}\uFFFD]/gu;
const IDEOGRAPHS =
  /[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu;
export const MARKS = /\p{Mn}+/gu;
/** A single mark of punctuation, or a run of anything else that is no white space. */
export const WORDS = /[\p{P}$+<=>^`|~]|[^\s\p{P}$+<=>^`|~]+/gu;

function clean(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  return text
    .replace(CONTROLS, "")
    .replace(IDEOGRAPHS, " $& ")
    .toLowerCase()
    .normalize("NFD")
    .replace(MARKS, "");
}
