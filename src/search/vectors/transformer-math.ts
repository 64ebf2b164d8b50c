/** Learned factors and offsets of a layer normalisation, one for each component. */
export interface LayerNorm {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

const EPSILON = 1e-12;

/** Normalises every row, in place. */
export function applyNorm({ weight, bias }: LayerNorm, states: Float32Array): void {
  const size = weight.length;
  for (let start = 0; start < states.length; start += size) {
    let sum = 0;
    for (let index = 0; index < size; index++) sum += states[start + index]!;
    const mean = sum / size;
    let squares = 0;
    for (let index = 0; index < size; index++) squares += (states[start + index]! - mean) ** 2;
    const factor = 1 / Math.sqrt(squares / size + EPSILON);
    for (let index = 0; index < size; index++) {
      states[start + index] = (states[start + index]! - mean) * factor * weight[index]! + bias[index]!;
    }
  }
}

/** Makes the values add up to one, in place; the largest counts most. */
export function softmax(values: Float64Array): void {
  const largest = values.reduce((left, right) => Math.max(left, right));
  let sum = 0;
  for (let index = 0; index < values.length; index++) {
    values[index] = Math.exp(values[index]! - largest);
    sum += values[index]!;
  }
  for (let index = 0; index < values.length; index++) values[index]! /= sum;
}

/** `x Φ(x)`, with the error function by Abramowitz and Stegun 7.1.26, right to seven digits. */
export function gelu(value: number): number {
  const x = Math.abs(value) * Math.SQRT1_2;
  const t = 1 / (1 + 0.3275911 * x);
  const series =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const tail = 0.5 * series * Math.exp(-x * x);
  return value * (value < 0 ? tail : 1 - tail);
}
