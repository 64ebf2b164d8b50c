import type { TokenCounter } from "../util/tokens.ts";
import { fitPieces, type Piece } from "./fit-pieces.ts";

/** Lines that belong together, and how the ones that are shown become text. */
export interface LineGroup {
  readonly pieces: readonly Piece[];
  /** `left` is how many of the group's lines were left out. */
  toText(lines: readonly string[], left: number): string;
}

/** The fullest text of the groups, a line each at least, within the budget. Empty where nothing fits. */
export function fitLines(groups: readonly LineGroup[], maxTokens: number, countTokens: TokenCounter): string {
  const pieces = groups.flatMap((group) => group.pieces);
  for (let room = maxTokens; room > 0; ) {
    const forms = fitPieces(pieces, room, countTokens);
    const text = assemble(groups, forms);
    const tokens = countTokens(text);
    if (tokens <= maxTokens) return text;
    room -= Math.max(4, tokens - maxTokens);
  }
  return "";
}

function assemble(groups: readonly LineGroup[], forms: readonly number[]): string {
  let at = 0;
  const texts = groups.map(({ pieces, toText }) => {
    const shown = pieces.map((piece, index) => piece.forms[forms[at + index]!]!);
    at += pieces.length;
    const lines = shown.filter((line) => line !== "");
    return pieces.length === 0 ? "" : toText(lines, shown.length - lines.length);
  });
  return texts.filter((text) => text !== "").join("\n");
}
