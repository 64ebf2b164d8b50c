/** The largest int8 that has a negative of the same size. */
const LARGEST = 127;

/**
 * Writes the vector as int8 into `target` and returns the scale that makes the dot product of two such
 * rows the cosine of what they hold. Returns 0 for all zeroes, nothing if a component is no number.
 */
export function quantize(vector: Float32Array, target: Int8Array): number | undefined {
  let largest = 0;
  for (const component of vector) {
    const size = Math.abs(component);
    if (!Number.isFinite(size)) return undefined;
    if (size > largest) largest = size;
  }
  target.fill(0);
  if (largest === 0) return 0;
  let squares = 0;
  for (let index = 0; index < vector.length; index++) {
    const level = Math.round((vector[index]! / largest) * LARGEST);
    target[index] = level;
    squares += level * level;
  }
  return Math.fround(1 / Math.sqrt(squares));
}
