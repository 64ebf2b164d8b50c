/** Scales the vector to length one, in place; all zeroes stay as they are. */
export function normalize(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const component of vector) sum += component * component;
  if (sum === 0) return vector;
  const factor = 1 / Math.sqrt(sum);
  for (let index = 0; index < vector.length; index++) vector[index]! *= factor;
  return vector;
}
