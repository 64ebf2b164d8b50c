import { NO_TOKEN, type TokenTable } from "./token-table.ts";

/**
 * Returns a function that counts the tokens of the first bytes of a buffer: it joins the two neighbours of the
 * lowest rank until no two neighbours are a token. For short words: the time grows with the square of their length.
 */
export function createMerger(table: TokenTable): (bytes: Uint8Array, length: number) => number {
  // A part runs from one start to the next. Beside it is the rank of the part together with its neighbour.
  let starts = new Uint32Array(0);
  let ranks = new Uint32Array(0);

  function rankAt(bytes: Uint8Array, part: number, parts: number): number {
    return part + 2 > parts ? NO_TOKEN : table.rank(bytes, starts[part]!, starts[part + 2]!);
  }

  return (bytes, length) => {
    if (length < 2 || table.rank(bytes, 0, length) !== NO_TOKEN) return Math.min(length, 1);
    if (ranks.length < length) {
      starts = new Uint32Array(2 * length + 1);
      ranks = new Uint32Array(2 * length);
    }
    let parts = length;
    for (let part = 0; part <= parts; part++) starts[part] = part;
    for (let part = 0; part < parts; part++) ranks[part] = rankAt(bytes, part, parts);
    while (parts > 1) {
      let lowest = 0;
      for (let part = 1; part < parts - 1; part++) if (ranks[part]! < ranks[lowest]!) lowest = part;
      if (ranks[lowest] === NO_TOKEN) break;
      for (let part = lowest + 1; part < parts; part++) {
        starts[part] = starts[part + 1]!;
        ranks[part] = ranks[part + 1]!;
      }
      parts--;
      ranks[lowest] = rankAt(bytes, lowest, parts);
      if (lowest > 0) ranks[lowest - 1] = rankAt(bytes, lowest - 1, parts);
    }
    return parts;
  };
}
