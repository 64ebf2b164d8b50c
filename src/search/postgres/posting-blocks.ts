import type { Row } from "./postgres-client.ts";

/** The postings of a term in so many neighbouring documents are one block: a row of the table. */
export const BLOCK_BITS = 10;
export const BLOCK_MASK = 2 ** BLOCK_BITS - 1;

/** Place in the block and impact, of 16 bits each. */
const BYTES = 4;

/** The postings of one term, documents ascending. */
export interface TermPostings {
  readonly documents: Uint32Array;
  readonly impacts: Uint16Array;
  readonly maxImpact: number;
}

/** Unpacks the blocks of a term as the server gives them. */
export function unpackPostings(row: Row): TermPostings {
  const blocks = row.block_numbers as readonly number[];
  const lengths = row.lengths as readonly number[];
  // A copy, because the bytes of an answer may stand at an odd place of a larger buffer.
  const bytes = Buffer.from(new Uint8Array(row.packed as Uint8Array).buffer).swap16();
  const pairs = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  const documents = new Uint32Array(bytes.length / BYTES);
  const impacts = new Uint16Array(documents.length);
  let maxImpact = 0;
  let at = 0;
  for (let place = 0; place < blocks.length; place++) {
    const first = blocks[place]! * (BLOCK_MASK + 1);
    for (const end = at + lengths[place]! / BYTES; at < end; at++) {
      const impact = pairs[2 * at + 1]!;
      documents[at] = first + pairs[2 * at]!;
      impacts[at] = impact;
      if (impact > maxImpact) maxImpact = impact;
    }
  }
  return { documents, impacts, maxImpact };
}
