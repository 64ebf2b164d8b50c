import type { FloatArena } from "./float-arena.ts";
import type { LinearLayer } from "./linear-layer.ts";
import type { HalfTensors } from "./safetensors.ts";
import { applyNorm, gelu, type LayerNorm, softmax } from "./transformer-math.ts";

/** Components of a token's state. */
export const SIZE = 384;
const HEADS = 12;
const HEAD_SIZE = SIZE / HEADS;
const INNER_SIZE = 1536;

/** Floats of the arena that a layer's matrices take, and those that a token takes in the buffers. */
export const LAYER_FLOATS = 4 * (SIZE + 1) * SIZE + (SIZE + 1) * INNER_SIZE + (INNER_SIZE + 1) * SIZE;
export const TOKEN_FLOATS = 6 * SIZE + INNER_SIZE;

/** The states of the tokens and what a layer computes from them; used again by every call. */
export interface Buffers {
  readonly states: Float32Array;
  readonly queries: Float32Array;
  readonly keys: Float32Array;
  readonly values: Float32Array;
  readonly context: Float32Array;
  readonly change: Float32Array;
  readonly wide: Float32Array;
}

/** The weights of one of the layers. */
export interface EncoderLayer {
  readonly query: LinearLayer;
  readonly key: LinearLayer;
  readonly value: LinearLayer;
  readonly attended: LinearLayer;
  readonly attendedNorm: LayerNorm;
  readonly widen: LinearLayer;
  readonly narrow: LinearLayer;
  readonly norm: LayerNorm;
}

/** Room for that many tokens. */
export function createBuffers(arena: FloatArena, tokens: number): Buffers {
  const buffer = (width: number) => arena.allocate(tokens * width);
  return {
    states: buffer(SIZE),
    queries: buffer(SIZE),
    keys: buffer(SIZE),
    values: buffer(SIZE),
    context: buffer(SIZE),
    change: buffer(SIZE),
    wide: buffer(INNER_SIZE),
  };
}

/** Reads the layer of that name, its matrices into the arena. */
export function readEncoderLayer(tensors: HalfTensors, arena: FloatArena, name: string): EncoderLayer {
  const linear = (part: string, inputs: number, outputs: number): LinearLayer => ({
    inputs,
    outputs,
    weights: tensors.floats(`${name}.${part}.weight`, [outputs, inputs], arena.allocate(outputs * inputs)),
    bias: tensors.floats(`${name}.${part}.bias`, [outputs], arena.allocate(outputs)),
  });
  return {
    query: linear("attention.self.query", SIZE, SIZE),
    key: linear("attention.self.key", SIZE, SIZE),
    value: linear("attention.self.value", SIZE, SIZE),
    attended: linear("attention.output.dense", SIZE, SIZE),
    attendedNorm: readLayerNorm(tensors, `${name}.attention.output.LayerNorm`),
    widen: linear("intermediate.dense", SIZE, INNER_SIZE),
    narrow: linear("output.dense", INNER_SIZE, SIZE),
    norm: readLayerNorm(tensors, `${name}.output.LayerNorm`),
  };
}

export function readLayerNorm(tensors: HalfTensors, name: string): LayerNorm {
  return { weight: tensors.floats(`${name}.weight`, [SIZE]), bias: tensors.floats(`${name}.bias`, [SIZE]) };
}

/** Changes the states. Sequences share the matrix products; only attention looks at each one by itself. */
export function applyLayer(
  arena: FloatArena,
  layer: EncoderLayer,
  buffers: Buffers,
  lengths: readonly number[],
): void {
  const { states, queries, keys, values, context, change, wide } = buffers;
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  arena.applyLinear(layer.query, states, queries, tokens);
  arena.applyLinear(layer.key, states, keys, tokens);
  arena.applyLinear(layer.value, states, values, tokens);
  context.fill(0);
  let first = 0;
  for (const length of lengths) {
    attend(buffers, first, length);
    first += length;
  }
  arena.applyLinear(layer.attended, context, change, tokens);
  addAndNorm(buffers, tokens, layer.attendedNorm);

  arena.applyLinear(layer.widen, states, wide, tokens);
  for (let index = 0; index < tokens * INNER_SIZE; index++) wide[index] = gelu(wide[index]!);
  arena.applyLinear(layer.narrow, wide, change, tokens);
  addAndNorm(buffers, tokens, layer.norm);
}

function attend({ queries, keys, values, context }: Buffers, first: number, length: number): void {
  const weights = new Float64Array(length);
  for (let head = 0; head < HEADS; head++) {
    const offset = first * SIZE + head * HEAD_SIZE;
    for (let token = 0; token < length; token++) {
      const at = token * SIZE + offset;
      for (let other = 0; other < length; other++) {
        const from = other * SIZE + offset;
        let sum = 0;
        for (let index = 0; index < HEAD_SIZE; index++) sum += queries[at + index]! * keys[from + index]!;
        weights[other] = sum / Math.sqrt(HEAD_SIZE);
      }
      softmax(weights);
      for (let other = 0; other < length; other++) {
        const from = other * SIZE + offset;
        const weight = weights[other]!;
        for (let index = 0; index < HEAD_SIZE; index++) {
          context[at + index]! += weight * values[from + index]!;
        }
      }
    }
  }
}

function addAndNorm({ states, change }: Buffers, tokens: number, norm: LayerNorm): void {
  const used = states.subarray(0, tokens * SIZE);
  for (let index = 0; index < used.length; index++) used[index]! += change[index]!;
  applyNorm(norm, used);
}
