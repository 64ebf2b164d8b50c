import { RecentMap } from "../util/nearest.ts";
import type { TokenCounter } from "./tokens.ts";

/** A part of an answer, from its fullest form to its shortest. An empty text leaves it out. */
export interface Piece {
  readonly forms: readonly string[];
  /** `prices[i]` is the loss to the reader from form `i` to `i + 1`. Cheap steps come first. */
  readonly prices: readonly number[];
}

/** The size limit of an answer, and how to count it. */
export interface TokenBudget {
  readonly maxTokens: number;
  readonly countTokens: TokenCounter;
}

/** Longer lines are counted each time: caching them would cost more memory than it saves time. */
const MAX_KEPT_LINE = 500;
const lineTokens = new RecentMap<string, number>(20_000);

/** Chooses a form for each piece so that all, one line each, fit the budget; otherwise the shortest forms. */
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
 * Chooses forms whose assembly, as JSON, stays within the budget: an assembly may cost more than its pieces. Undefined
 * if even the shortest forms do not fit. See {@link fitPieces}.
 */
export function fitAssembled<T>(
  pieces: readonly Piece[],
  { maxTokens, countTokens }: TokenBudget,
  assemble: (forms: readonly number[]) => T,
): T | undefined {
  for (let room = maxTokens; ; ) {
    const assembled = assemble(fitPieces(pieces, room, countTokens));
    const tokens = countTokens(JSON.stringify(assembled));
    if (tokens <= maxTokens) return assembled;
    if (room <= 0) return undefined;
    room = Math.max(0, room - Math.max(4, tokens - maxTokens));
  }
}

/** Cached, because lines repeat from answer to answer. A newline ends a token or stands alone. */
function tokensOfLine(line: string, countTokens: TokenCounter): number {
  if (line.length > MAX_KEPT_LINE) return countTokens(`${line}\n`);
  const cached = lineTokens.get(line);
  if (cached !== undefined) return cached;
  const tokens = countTokens(`${line}\n`);
  lineTokens.set(line, tokens);
  return tokens;
}
