/** A step of a binary search, measured against a step of a walk. */
export const LOOK_UP_COST = 8;

/** The place of a document in the ascending `documents[start .. end]`, or -1. */
export function indexIn(documents: Uint32Array, start: number, end: number, document: number): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (documents[middle]! < document) low = middle + 1;
    else high = middle;
  }
  return low < end && documents[low] === document ? low : -1;
}
