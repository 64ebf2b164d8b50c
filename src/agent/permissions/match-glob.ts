type Token =
  | { readonly kind: "character"; readonly value: string }
  | {
      readonly kind: "set";
      readonly negated: boolean;
      readonly ranges: readonly (readonly [string, string])[];
    }
  | { readonly kind: "one" }
  | { readonly kind: "many" };

export interface GlobOptions {
  /** Reads `[a-z]` as a set of characters. Without it brackets stand for themselves. */
  readonly sets?: boolean;
}

/**
 * Compiles a glob into a test for paths with `/` between their parts. `*` is any text within a part, `?` one
 * character, `**` any number of parts; a backslash escapes the next character. Takes time in proportion to
 * pattern times path, for any input.
 */
export function compileGlob(pattern: string, options: GlobOptions = {}): (path: string) => boolean {
  const parts = pattern.split("/").map((part) => (part === "**" ? "any" : toTokens(part, options)));
  return (path) => {
    const segments = path.split("/");
    return matches(
      parts.length,
      segments.length,
      (at) => parts[at] === "any",
      (at, segment) => {
        const part = parts[at];
        return part !== undefined && part !== "any" && matchSegment(part, [...segments[segment]!]);
      },
    );
  };
}

export function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]]/g, "\\$&");
}

function matchSegment(tokens: readonly Token[], characters: readonly string[]): boolean {
  return matches(
    tokens.length,
    characters.length,
    (at) => tokens[at]?.kind === "many",
    (at, index) => matchesOne(tokens[at]!, characters[index]!),
  );
}

/** Greedy wildcard matching: only the last wildcard is ever retried. */
function matches(
  patternLength: number,
  length: number,
  isMany: (at: number) => boolean,
  isSame: (at: number, index: number) => boolean,
): boolean {
  let at = 0;
  let index = 0;
  let retryAt = -1;
  let retryIndex = 0;
  while (index < length) {
    if (at < patternLength && isMany(at)) {
      retryAt = at;
      retryIndex = index;
      at += 1;
    } else if (at < patternLength && isSame(at, index)) {
      at += 1;
      index += 1;
    } else if (retryAt !== -1) {
      retryIndex += 1;
      at = retryAt + 1;
      index = retryIndex;
    } else return false;
  }
  while (at < patternLength && isMany(at)) at += 1;
  return at === patternLength;
}

function matchesOne(token: Token, character: string): boolean {
  if (token.kind === "character") return token.value === character;
  if (token.kind !== "set") return token.kind === "one";
  return token.ranges.some(([low, high]) => character >= low && character <= high) !== token.negated;
}

function toTokens(part: string, { sets = false }: GlobOptions): Token[] {
  const characters = [...part];
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at]!;
    const close = sets && character === "[" ? characters.indexOf("]", at + 2) : -1;
    if (character === "*") tokens.push({ kind: "many" });
    else if (character === "?") tokens.push({ kind: "one" });
    else if (character === "\\" && at + 1 < characters.length) {
      at += 1;
      tokens.push({ kind: "character", value: characters[at]! });
    } else if (close !== -1) {
      tokens.push(toSet(characters.slice(at + 1, close)));
      at = close;
    } else tokens.push({ kind: "character", value: character });
  }
  return tokens;
}

function toSet(characters: readonly string[]): Token {
  const negated = characters[0] === "!" || characters[0] === "^";
  const ranges: [string, string][] = [];
  for (let at = negated ? 1 : 0; at < characters.length; at += 1) {
    const low = characters[at]!;
    const isRange = characters[at + 1] === "-" && at + 2 < characters.length;
    ranges.push([low, isRange ? characters[at + 2]! : low]);
    if (isRange) at += 2;
  }
  return { kind: "set", negated, ranges };
}
