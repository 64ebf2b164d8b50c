/** A vocabulary of byte sequences. The place of a token is its rank. */
export interface TokenTable {
  /** Returns the rank of these bytes, or `NO_TOKEN`. */
  rank(bytes: Uint8Array, start: number, end: number): number;
}

export const NO_TOKEN = 0xff_ff_ff_ff;

const LENGTH_BYTES = 4;
/** Twice to four times as many slots as tokens keep searches short. */
const ROOM = 2;

/** Writes tokens of at most 255 bytes: their number, the length of each, and their bytes. */
export function packTokens(tokens: readonly Uint8Array[]): Uint8Array {
  const head = new Uint8Array(LENGTH_BYTES + tokens.length);
  new DataView(head.buffer).setUint32(0, tokens.length, true);
  for (const [rank, token] of tokens.entries()) head[LENGTH_BYTES + rank] = token.length;
  return Buffer.concat([head, ...tokens]);
}

/** Reads tokens as {@link packTokens} writes them. Uses a few megabytes where a Map of strings would use seventy. */
export function openTokenTable(packed: Uint8Array): TokenTable {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const count = view.getUint32(0, true);
  const starts = new Uint32Array(count + 1);
  starts[0] = LENGTH_BYTES + count;
  for (let rank = 0; rank < count; rank++) starts[rank + 1] = starts[rank]! + packed[LENGTH_BYTES + rank]!;
  // Reading the last byte throws if the file was cut.
  view.getUint8(starts[count]! - 1);
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(count * ROOM))).fill(NO_TOKEN);
  const mask = slots.length - 1;
  for (let rank = 0; rank < count; rank++) {
    let slot = hash(packed, starts[rank]!, starts[rank + 1]!) & mask;
    while (slots[slot] !== NO_TOKEN) slot = (slot + 1) & mask;
    slots[slot] = rank;
  }
  return {
    rank: (bytes, start, end) => {
      for (let slot = hash(bytes, start, end) & mask; ; slot = (slot + 1) & mask) {
        const rank = slots[slot]!;
        if (rank === NO_TOKEN) return NO_TOKEN;
        const at = starts[rank]!;
        if (starts[rank + 1]! - at !== end - start) continue;
        let same = start;
        while (same < end && packed[at + same - start] === bytes[same]) same++;
        if (same === end) return rank;
      }
    },
  };
}

/** FNV-1a with a last mix, because only the low bits are used. */
function hash(bytes: Uint8Array, start: number, end: number): number {
  let value = 0x81_1c_9d_c5;
  for (let at = start; at < end; at++) value = Math.imul(value ^ bytes[at]!, 0x01_00_01_93);
  return value ^ (value >>> 15);
}
