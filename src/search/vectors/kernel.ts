import { KERNEL_BYTES } from "./kernel-bytes.ts";

export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The SIMD loops and the memory they work on; all arguments are addresses or counts. */
export interface Kernel {
  readonly memory: KernelMemory;
  dots(row: number, count: number, stride: number, query: number, out: number): void;
  /** Like `dots`, of the rows whose addresses are at `list`. */
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

/** The part of the global that is used here; the types of Node leave it out. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Memory: new (limits: { initial: number }) => KernelMemory;
  Instance: new (
    module: object,
    imports: { host: { memory: KernelMemory } },
  ) => { readonly exports: Omit<Kernel, "memory"> };
};

export const PAGE_BYTES = 65_536;

let compiled: object | undefined;

/** A kernel with a memory of its own, or nothing where the host cannot run it. */
export function startKernel(bytes: number): Kernel | undefined {
  if (typeof WebAssembly === "undefined") return undefined;
  try {
    compiled ??= new WebAssembly.Module(Buffer.from(KERNEL_BYTES, "base64"));
    const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) });
    const { exports } = new WebAssembly.Instance(compiled, { host: { memory } });
    return { memory, ...exports };
  } catch {
    // No SIMD, no code generation allowed, or no address space left for another memory.
    return undefined;
  }
}
