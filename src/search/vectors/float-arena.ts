import { startKernel } from "./kernel.ts";
import { applyLinear, type LinearLayer } from "./linear-layer.ts";

/** Rows are computed in groups of this size; buffers have room for the last group. */
export const ROW_GROUP = 4;

/** Memory for a model's weights and states, and the layer that is computed on it. */
export interface FloatArena {
  /** A stretch of zeroes, not yet given to anyone. */
  allocate(length: number): Float32Array;
  /** Computes the rows up to the next full group; all arrays come from this arena. */
  applyLinear(layer: LinearLayer, input: Float32Array, output: Float32Array, rows: number): void;
}

/** An arena for that many floats, computed by the SIMD kernel where it runs. */
export function createFloatArena(floats: number, engine: "kernel" | "plain" = "kernel"): FloatArena {
  const bytes = floats * Float32Array.BYTES_PER_ELEMENT;
  const kernel = engine === "kernel" ? startKernel(bytes) : undefined;
  const buffer = kernel?.memory.buffer ?? new ArrayBuffer(bytes);
  let used = 0;

  return {
    allocate(length) {
      const start = used;
      used += length * Float32Array.BYTES_PER_ELEMENT;
      return new Float32Array(buffer, start, length);
    },
    applyLinear(layer, input, output, rows) {
      if (kernel === undefined) return applyLinear(layer, input, output, rows);
      const rowBytes = layer.inputs * Float32Array.BYTES_PER_ELEMENT;
      const outputBytes = layer.outputs * Float32Array.BYTES_PER_ELEMENT;
      for (let row = 0; row < rows; row += ROW_GROUP) {
        kernel.linear(
          input.byteOffset + row * rowBytes,
          rowBytes,
          layer.weights.byteOffset,
          layer.bias.byteOffset,
          layer.outputs,
          output.byteOffset + row * outputBytes,
          outputBytes,
        );
      }
    },
  };
}
