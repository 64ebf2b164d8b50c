/** Needles are looked up by this many first characters. */
const START = 3;
const KEYS = 65_536;

/**
 * Prepares the replacement of many texts by one. A single pass finds them all, the longest at each place; most places
 * cost one look into a table. Needles under three characters are ignored.
 */
export function createReplacer(needles: readonly string[], replacement: string): (text: string) => string {
  const long = needles.filter((needle) => needle.length >= START);
  const byStart = Map.groupBy(
    [...new Set(long)].sort((left, right) => right.length - left.length),
    (needle) => needle.slice(0, START),
  );
  const starts = new Uint8Array(KEYS);
  for (const start of byStart.keys()) starts[keyAt(start, 0)] = 1;

  return (text) => {
    const last = text.length - START;
    let replaced = "";
    let from = 0;
    for (let at = 0; at <= last; ) {
      const found = starts[keyAt(text, at)] === 1 ? needleAt(text, at) : undefined;
      if (found === undefined) {
        at += 1;
        continue;
      }
      replaced += text.slice(from, at) + replacement;
      at += found.length;
      from = at;
    }
    return from === 0 ? text : replaced + text.slice(from);
  };

  function needleAt(text: string, at: number): string | undefined {
    return byStart.get(text.slice(at, at + START))?.find((needle) => text.startsWith(needle, at));
  }
}

function keyAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & (KEYS - 1);
}
