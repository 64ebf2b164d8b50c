import { LRUCache } from "lru-cache";
import { lazy } from "../util/lazy.ts";
import type { TokenCounter } from "../util/tokens.ts";

/** A piece of an answer, from its fullest form to its shortest. The empty text leaves it out. */
export interface Piece {
  readonly forms: readonly string[];
  /** `prices[i]` is what it costs the reader to go from form `i` to `i + 1`. Cheap steps are taken first. */
  readonly prices: readonly number[];
}

const lineTokens = lazy(() => new LRUCache<string, number>({ max: 20_000 }));

/**
 * Chooses a form for each piece, so that all of them, a line each, stay within the budget. Where even the
 * shortest forms do not fit, those are the answer.
 */
export function fitPieces(pieces: readonly Piece[], budget: number, countTokens: TokenCounter): number[] {
  const chosen = pieces.map(() => 0);
  const cost = (text: string) => (text === "" ? 0 : tokensOfLine(text, countTokens));
  let total = pieces.reduce((sum, piece) => sum + cost(piece.forms[0]!), 0);

  const steps = pieces
    .flatMap((piece, at) => piece.prices.map((price, from) => ({ at, from, price })))
    .sort((left, right) => left.price - right.price || right.at - left.at || left.from - right.from);
  for (const { at, from } of steps) {
    if (total <= budget) break;
    if (chosen[at] !== from) continue;
    const { forms } = pieces[at]!;
    total += cost(forms[from + 1]!) - cost(forms[from]!);
    chosen[at] = from + 1;
  }
  return chosen;
}

/** Lines repeat from answer to answer, so their counts are kept. A newline ends a token or stands alone. */
function tokensOfLine(line: string, countTokens: TokenCounter): number {
  const known = lineTokens().get(line);
  if (known !== undefined) return known;
  const tokens = countTokens(`${line}\n`);
  lineTokens().set(line, tokens);
  return tokens;
}
