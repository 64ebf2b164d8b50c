/** Long pasted texts, of which the draft shows one line each. */
export interface FoldedPastes {
  /** The text for the draft: the paste itself, or a line that stands for it. */
  fold(pasted: string): string;
  /** The draft with every paste in full. */
  unfold(draft: string): string;
}

const MOST_LINES = 10;
const MOST_CHARS = 2_000;
const MARK = /\[Pasted text (\d+): [\d,]+ lines?, [\d,]+ characters\]/g;

export function createFoldedPastes(): FoldedPastes {
  const kept: string[] = [];
  return {
    fold: (pasted) => {
      const lines = pasted.trimEnd().split("\n").length;
      if (lines <= MOST_LINES && pasted.length <= MOST_CHARS) return pasted;
      kept.push(pasted);
      const count = (number: number) => number.toLocaleString("en-US");
      return `[Pasted text ${kept.length}: ${count(lines)} ${lines === 1 ? "line" : "lines"}, ${count(pasted.length)} characters]`;
    },
    unfold: (draft) => draft.replaceAll(MARK, (mark, number: string) => kept[Number(number) - 1] ?? mark),
  };
}
