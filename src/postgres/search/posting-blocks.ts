import type { SqlRow } from "../../core/storage/sql-storage.ts";

/** The number of neighbouring documents whose postings of a term are one block: a row of the table. */
export const BLOCK_BITS = 10;
export const BLOCK_MASK = 2 ** BLOCK_BITS - 1;

/** Place in the block, whether the term stands in the body alone, and impact: 15, 1 and 16 bits. */
const BYTES = 4;
/** Bit of a stored impact: the term stands in the body of the document and nowhere else. */
export const BODY_BIT = 2 ** 16;
/** Bits of a stored impact. */
export const IMPACT_BITS = 17;

/** The postings of one term, documents ascending. */
export interface TermPostings {
  readonly documents: Uint32Array;
  readonly impacts: Uint16Array;
  /** 1 if the term stands in the body of the document alone. */
  readonly inBody: Uint8Array;
  readonly maxImpact: number;
}

/** Unpacks the blocks of a term as the server gives them. */
export function unpackPostings(row: SqlRow): TermPostings {
  const blocks = row.block_numbers as readonly number[];
  const lengths = row.lengths as readonly number[];
  // A copy, because the bytes of an answer may stand at an odd place of a larger buffer.
  const bytes = Buffer.from(new Uint8Array(row.packed as Uint8Array).buffer).swap16();
  const pairs = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  const documents = new Uint32Array(bytes.length / BYTES);
  const impacts = new Uint16Array(documents.length);
  const inBody = new Uint8Array(documents.length);
  let maxImpact = 0;
  let at = 0;
  for (const [block, number] of blocks.entries()) {
    const first = number * (BLOCK_MASK + 1);
    for (const end = at + lengths[block]! / BYTES; at < end; at++) {
      const impact = pairs[2 * at + 1]!;
      const place = pairs[2 * at]!;
      documents[at] = first + (place >>> 1);
      inBody[at] = place & 1;
      impacts[at] = impact;
      if (impact > maxImpact) maxImpact = impact;
    }
  }
  return { documents, impacts, inBody, maxImpact };
}
