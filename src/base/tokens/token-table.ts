/** A vocabulary of byte sequences. The rank of a token is its position in the original order. */
export interface TokenTable {
  /** Returns the rank of these bytes, or `NO_TOKEN`. */
  rank(bytes: Uint8Array, start: number, end: number): number;
}

export const NO_TOKEN = 0xff_ff_ff_ff;

/** A bucket holds about three tokens of the usual vocabulary. */
const BUCKETS = 2 ** 16;
const START_BYTES = 4;
const HEAD_BYTES = START_BYTES * (BUCKETS + 1);
/** In front of a token's bytes: their number, and its rank in three bytes. */
const RECORD_BYTES = 4;

/**
 * Packs tokens of at most 255 bytes in a hash table: the start of each bucket, then its tokens. The file itself is the
 * table, so opening it takes neither time nor memory.
 */
export function packTokens(tokens: readonly Uint8Array[]): Uint8Array {
  const buckets: number[][] = Array.from({ length: BUCKETS }, () => []);
  for (const [rank, token] of tokens.entries()) buckets[bucketOf(token, 0, token.length)]!.push(rank);
  const records = tokens.reduce((bytes, token) => bytes + RECORD_BYTES + token.length, 0);
  const packed = new Uint8Array(HEAD_BYTES + records);
  const view = new DataView(packed.buffer);
  let at = HEAD_BYTES;
  for (const [bucket, ranks] of buckets.entries()) {
    view.setUint32(bucket * START_BYTES, at, true);
    for (const rank of ranks) {
      const token = tokens[rank]!;
      view.setUint32(at, (rank << 8) | token.length, true);
      packed.set(token, at + RECORD_BYTES);
      at += RECORD_BYTES + token.length;
    }
  }
  view.setUint32(BUCKETS * START_BYTES, at, true);
  return packed;
}

/** Opens a table of {@link packTokens}. Throws if it is truncated. */
export function openTokenTable(packed: Uint8Array): TokenTable {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  // Reading the last byte throws if the file is truncated.
  view.getUint8(view.getUint32(BUCKETS * START_BYTES, true) - 1);
  return {
    rank: (bytes, start, end) => {
      const place = bucketOf(bytes, start, end) * START_BYTES;
      const length = end - start;
      const last = view.getUint32(place + START_BYTES, true);
      for (let at = view.getUint32(place, true); at < last; at += RECORD_BYTES + packed[at]!) {
        if (packed[at] !== length) continue;
        const token = at + RECORD_BYTES - start;
        let same = start;
        while (same < end && packed[token + same] === bytes[same]) same++;
        if (same === end) return view.getUint32(at, true) >>> 8;
      }
      return NO_TOKEN;
    },
  };
}

function bucketOf(bytes: Uint8Array, start: number, end: number): number {
  return hashBytes(bytes, start, end) & (BUCKETS - 1);
}

/** FNV-1a with a final mix, because tables use only the low bits. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let value = 0x81_1c_9d_c5;
  for (let at = start; at < end; at++) value = Math.imul(value ^ bytes[at]!, 0x01_00_01_93);
  return value ^ (value >>> 15);
}
