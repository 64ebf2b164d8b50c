import { problem } from "../../schema/problem.ts";

/** Half-precision tensors by name, as a safetensors file holds them. */
export interface HalfTensors {
  /** The bits of that tensor. Raises DATA_INVALID unless it is there in that shape. */
  bits(name: string, shape: readonly number[]): Uint16Array;
  /** The same as 32-bit floats, written into `target` if there is one. */
  floats(name: string, shape: readonly number[], target?: Float32Array): Float32Array;
}

interface TensorHeader {
  readonly dtype?: unknown;
  readonly shape?: unknown;
  readonly data_offsets?: unknown;
}

const LENGTH_BYTES = 8;

/** Reads the header; tensors are copied out when they are asked for, so that `file` can be let go. */
export function readSafetensors(file: Uint8Array): HalfTensors {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const headerLength = file.length < LENGTH_BYTES ? Infinity : Number(view.getBigUint64(0, true));
  const start = LENGTH_BYTES + headerLength;
  if (start > file.length)
    throw problem("DATA_INVALID", { name: "The weights", reason: "the file is cut short" });
  const text = new TextDecoder().decode(file.subarray(LENGTH_BYTES, start));
  const headers = new Map<string, TensorHeader>(Object.entries(JSON.parse(text)));

  function bits(name: string, shape: readonly number[]): Uint16Array {
    const header = headers.get(name);
    const size = shape.reduce((product, side) => product * side, 2);
    const [from, to] = Array.isArray(header?.data_offsets) ? header.data_offsets.map(Number) : [];
    if (header?.dtype !== "F16" || String(header.shape) !== String(shape)) {
      throw problem("DATA_INVALID", { name, reason: "it is missing or of another shape" });
    }
    if (from === undefined || to === undefined || to - from !== size || start + to > file.length) {
      throw problem("DATA_INVALID", { name, reason: "it is cut short" });
    }
    return new Uint16Array(new Uint8Array(file.subarray(start + from, start + to)).buffer);
  }

  return {
    bits,
    floats(name, shape, target) {
      const halves = bits(name, shape);
      const floats = target ?? new Float32Array(halves.length);
      for (let index = 0; index < halves.length; index++) floats[index] = HALF_TO_FLOAT[halves[index]!]!;
      return floats;
    },
  };
}

/** Every half-precision number as a float, by its bits. */
export const HALF_TO_FLOAT = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
});
