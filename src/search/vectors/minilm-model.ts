import {
  applyLayer,
  createBuffers,
  LAYER_FLOATS,
  readEncoderLayer,
  readLayerNorm,
  SIZE,
  TOKEN_FLOATS,
} from "./encoder-layer.ts";
import { createFloatArena } from "./float-arena.ts";
import { normalize } from "./normalize.ts";
import { HALF_TO_FLOAT, type HalfTensors } from "./safetensors.ts";
import { applyNorm } from "./transformer-math.ts";

export const MINILM_DIMENSIONS = SIZE;
export const MINILM_VOCABULARY = 30_522;
/** The model was trained on no more; longer texts are cut. */
export const MINILM_MAXIMUM_TOKENS = 256;

const LAYERS = 6;
const POSITIONS = 512;

/** The sentence encoder all-MiniLM-L6-v2. */
export interface MiniLmModel {
  /**
   * One unit vector for each sequence of ids, which includes `[CLS]` and `[SEP]`. All of them together
   * have at most `MINILM_MAXIMUM_TOKENS`.
   */
  encode(sequences: readonly (readonly number[])[]): Float32Array[];
}

/** Reads the weights. The large table of words stays in half precision. */
export function createMiniLmModel(tensors: HalfTensors): MiniLmModel {
  const words = tensors.bits("embeddings.word_embeddings.weight", [MINILM_VOCABULARY, SIZE]);
  const positions = tensors.floats("embeddings.position_embeddings.weight", [POSITIONS, SIZE]);
  const segments = tensors.floats("embeddings.token_type_embeddings.weight", [2, SIZE]);
  const inputNorm = readLayerNorm(tensors, "embeddings.LayerNorm");
  const arena = createFloatArena(LAYERS * LAYER_FLOATS + MINILM_MAXIMUM_TOKENS * TOKEN_FLOATS);
  const layers = Array.from({ length: LAYERS }, (_, index) =>
    readEncoderLayer(tensors, arena, `encoder.layer.${index}`),
  );
  const buffers = createBuffers(arena, MINILM_MAXIMUM_TOKENS);

  function setInput(sequences: readonly (readonly number[])[]): void {
    let at = 0;
    for (const sequence of sequences) {
      for (const [position, id] of sequence.entries()) {
        for (let index = 0; index < SIZE; index++) {
          const word = HALF_TO_FLOAT[words[id * SIZE + index]!]!;
          buffers.states[at++] = word + positions[position * SIZE + index]! + segments[index]!;
        }
      }
    }
    applyNorm(inputNorm, buffers.states.subarray(0, at));
  }

  return {
    encode(sequences) {
      const lengths = sequences.map(({ length }) => length);
      setInput(sequences);
      for (const layer of layers) applyLayer(arena, layer, buffers, lengths);
      let first = 0;
      return lengths.map((length) => {
        const sum = sumOf(buffers.states.subarray(first * SIZE, (first + length) * SIZE));
        first += length;
        return normalize(sum);
      });
    },
  };
}

/** The mean up to its length, which does not matter before normalising. */
function sumOf(states: Float32Array): Float32Array {
  const sum = new Float32Array(SIZE);
  for (let index = 0; index < states.length; index++) sum[index % SIZE]! += states[index]!;
  return sum;
}
