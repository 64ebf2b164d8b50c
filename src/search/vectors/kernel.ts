import { KERNEL_BYTES } from "./kernel-bytes.ts";

interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The SIMD loops. All arguments are addresses or counts. */
interface KernelLoops {
  dots(row: number, count: number, stride: number, query: number, out: number): void;
  /** Like `dots`, for the rows whose addresses are at `list`. */
  dotsAt(list: number, count: number, stride: number, query: number, out: number): void;
  sums(
    codes: number,
    block: number,
    blocks: number,
    tables: number,
    tablesEnd: number,
    least: number,
    out: number,
    end: number,
  ): void;
}

/** The part of the global that is used here; Node's types lack it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Memory: new (limits: { initial: number }) => KernelMemory;
  Instance: new (
    module: object,
    imports: { host: { memory: KernelMemory } },
  ) => { readonly exports: KernelLoops };
};

/** The loops with their memory. */
export interface Kernel extends KernelLoops {
  readonly memory: KernelMemory;
  /** Reserves memory for this many rows; existing ones stay. */
  reserve(rows: number): void;
}

const PAGE_BYTES = 65_536;
const MAXIMUM_BYTES = 2 ** 32;

let compiled: object | undefined;

/** A kernel with its own memory, whose rows come after `start`. Undefined if the host cannot run it. */
export function startKernel(start: number, rowBytes: number): Kernel | undefined {
  if (typeof WebAssembly === "undefined") return undefined;
  try {
    compiled ??= new WebAssembly.Module(Buffer.from(KERNEL_BYTES, "base64"));
    const memory = new WebAssembly.Memory({ initial: Math.ceil(start / PAGE_BYTES) });
    const { exports } = new WebAssembly.Instance(compiled, { host: { memory } });
    const limit = Math.floor((MAXIMUM_BYTES - start) / rowBytes);
    let capacity = 0;
    const reserve = (rows: number): void => {
      if (rows <= capacity) return;
      const grown = grownCapacity(capacity, rows, limit);
      const missing = start + grown * rowBytes - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
      capacity = grown;
    };
    return { memory, reserve, ...exports };
  } catch {
    // No SIMD, code generation forbidden, or no address space left for another memory.
    return undefined;
  }
}

const FIRST_CAPACITY = 64;

/** The capacity after doubling until `rows` fit, at most `limit`. */
export function grownCapacity(capacity: number, rows: number, limit = Number.MAX_SAFE_INTEGER): number {
  let grown = Math.max(capacity, FIRST_CAPACITY);
  while (grown < rows) grown *= 2;
  return Math.min(grown, Math.max(rows, limit));
}
