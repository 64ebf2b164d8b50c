import { RecentMap } from "../util/nearest.ts";
import type { TokenCounter } from "./tokens.ts";

/** A piece of an answer, from its fullest form to its shortest. The empty text leaves it out. */
export interface Piece {
  readonly forms: readonly string[];
  /** `prices[i]` is what it costs the reader to go from form `i` to `i + 1`. Cheap steps are taken first. */
  readonly prices: readonly number[];
}

/** How large an answer may be, and how that is counted. */
export interface TokenBudget {
  readonly maxTokens: number;
  readonly countTokens: TokenCounter;
}

/** Longer lines are counted each time: keeping them would take more memory than it saves time. */
const MAX_KEPT_LINE = 500;
const lineTokens = new RecentMap<string, number>(20_000);

/**
 * Chooses a form for each piece, so that all of them, a line each, stay within the budget. Takes the shortest
 * forms where even those do not fit.
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

/**
 * Chooses forms whose assembly, as JSON, stays within the budget: an assembly may cost more than its pieces. See
 * {@link fitPieces}. Undefined where not even the shortest forms fit.
 */
export function fitAssembled<T>(
  pieces: readonly Piece[],
  { maxTokens, countTokens }: TokenBudget,
  assemble: (forms: readonly number[]) => T,
): T | undefined {
  for (let room = maxTokens; ; ) {
    const made = assemble(fitPieces(pieces, room, countTokens));
    const tokens = countTokens(JSON.stringify(made));
    if (tokens <= maxTokens) return made;
    if (room <= 0) return undefined;
    room = Math.max(0, room - Math.max(4, tokens - maxTokens));
  }
}

/** Lines repeat from answer to answer, so their counts are kept. A newline ends a token or stands alone. */
function tokensOfLine(line: string, countTokens: TokenCounter): number {
  if (line.length > MAX_KEPT_LINE) return countTokens(`${line}\n`);
  const known = lineTokens.get(line);
  if (known !== undefined) return known;
  const tokens = countTokens(`${line}\n`);
  lineTokens.set(line, tokens);
  return tokens;
}
