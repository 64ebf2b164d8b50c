/** A layer `output = input × weightsᵀ + bias`, applied to several rows. */
export interface LinearLayer {
  /** A multiple of eight. */
  readonly inputs: number;
  /** Even. */
  readonly outputs: number;
  /** One row of `inputs` weights for each output. */
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}

/** Applies the layer in plain JavaScript; two rows and two outputs share what is read. */
export function applyLinear(
  layer: LinearLayer,
  input: Float32Array,
  output: Float32Array,
  rows: number,
): void {
  for (let row = 0; row < rows; row += 2) {
    for (let column = 0; column < layer.outputs; column += 2) applyBlock(layer, input, output, row, column);
  }
}

function applyBlock(
  { inputs, outputs, weights, bias }: LinearLayer,
  input: Float32Array,
  output: Float32Array,
  row: number,
  column: number,
): void {
  const upper = row * inputs;
  const lower = upper + inputs;
  const left = column * inputs;
  const right = left + inputs;
  let upperLeft = bias[column]!;
  let upperRight = bias[column + 1]!;
  let lowerLeft = upperLeft;
  let lowerRight = upperRight;
  for (let index = 0; index < inputs; index++) {
    const leftWeight = weights[left + index]!;
    const rightWeight = weights[right + index]!;
    const upperValue = input[upper + index]!;
    const lowerValue = input[lower + index]!;
    upperLeft += leftWeight * upperValue;
    upperRight += rightWeight * upperValue;
    lowerLeft += leftWeight * lowerValue;
    lowerRight += rightWeight * lowerValue;
  }
  const at = row * outputs + column;
  output[at] = upperLeft;
  output[at + 1] = upperRight;
  output[at + outputs] = lowerLeft;
  output[at + outputs + 1] = lowerRight;
}
