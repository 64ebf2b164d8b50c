import type { SqlRow } from "../../core/storage/sql-storage.ts";

/** Bits of the number of neighbouring documents whose postings of a term are one row of the table. */
export const BLOCK_BITS = 10;
export const BLOCK_MASK = 2 ** BLOCK_BITS - 1;

/** Position in the block (15 bits), whether the term is only in the body (1 bit), impact (16 bits). */
const BYTES = 4;
/** Bit of a stored impact: the term is only in the body of the document. */
export const BODY_BIT = 2 ** 16;
/** Bits of a stored impact. */
export const IMPACT_BITS = 17;

/** Postings of one term, by ascending document. */
export interface TermPostings {
  readonly documents: Uint32Array;
  readonly impacts: Uint16Array;
  /** 1 if the term is only in the body of the document. */
  readonly inBody: Uint8Array;
  readonly maxImpact: number;
}

/** Unpacks the blocks of a term from a row of the server. */
export function unpackPostings(row: SqlRow): TermPostings {
  const blocks = row.block_numbers as readonly number[];
  const lengths = row.lengths as readonly number[];
  // A copy, because the bytes may start at an odd offset of a larger buffer.
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
