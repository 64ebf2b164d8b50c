import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import load from "@jitl/quickjs-ng-wasmfile-release-sync/emscripten-module";
import { QuickJSFFI } from "@jitl/quickjs-ng-wasmfile-release-sync/ffi";
import { lazy } from "../../base/util/lazy.ts";

/** An address in the memory of the engine, or 0. */
export type Pointer = number;

/** The package tells pointers apart by type; here they are numbers. */
type Plain<T> = T extends number ? number : T;
type PlainFunction<F> = F extends (...args: infer Args) => infer Result
  ? (...args: { [At in keyof Args]: Plain<Args[At]> }) => Plain<Result>
  : never;
/** The C functions of QuickJS. Values are pointers, which the caller frees. */
type CFunctions = { [Name in keyof QuickJSFFI]: PlainFunction<QuickJSFFI[Name]> };

/** The functions that QuickJS calls. The first argument is for another build of it. */
interface Callbacks {
  callFunction(
    _: unknown,
    context: Pointer,
    self: Pointer,
    count: number,
    args: Pointer,
    id: number,
  ): Pointer;
  shouldInterrupt(): 0 | 1;
  freeHostRef(): void;
}

export interface QuickJsModule {
  readonly c: CFunctions;
  readonly memory: EngineMemory;
  readonly malloc: (bytes: number) => Pointer;
  readonly free: (at: Pointer) => void;
}

/** As the package's own build has it. Its types are those of the CommonJS build. */
type LoadModule = (options: {
  instantiateWasm(imports: object, onSuccess: (instance: object) => void): Promise<object>;
}) => Promise<{
  callbacks: Callbacks;
  quickjsEmscriptenInit(log: () => void): { getWasmMemory(): EngineMemory };
  readonly _malloc: QuickJsModule["malloc"];
  readonly _free: QuickJsModule["free"];
}>;

/** Node has it, but its types do not declare it. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(code: object, imports: object): Promise<{ readonly exports: object }>;
};

/** The code of the engine: beside the worker in the built package, in its own package otherwise. */
const wasm = lazy(async () => {
  const built = ["./engine.wasm", "../core/sandbox/engine.wasm"]
    .map((path) => new URL(path, import.meta.url))
    .find((file) => existsSync(file));
  const file = built ?? createRequire(import.meta.url).resolve("@jitl/quickjs-ng-wasmfile-release-sync/wasm");
  return WebAssembly.compile(await readFile(file));
});

/** Makes an instance of QuickJS with a memory of its own. */
export async function loadQuickJs(callbacks: Callbacks): Promise<QuickJsModule> {
  const code = await wasm();
  const module = await (load as unknown as LoadModule)({
    instantiateWasm: async (imports, onSuccess) => {
      const instance = await WebAssembly.instantiate(code, imports);
      onSuccess(instance);
      return instance.exports;
    },
  });
  module.callbacks = callbacks;
  return {
    c: new QuickJSFFI(module as never) as unknown as CFunctions,
    memory: module.quickjsEmscriptenInit(() => {}).getWasmMemory(),
    malloc: module._malloc,
    free: module._free,
  };
}

/** A memory of WebAssembly. It can grow and never shrinks. */
interface EngineMemory {
  readonly buffer: ArrayBuffer;
}

const BLOCK_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(BLOCK_BYTES);

/**
 * Remembers every byte of a memory and returns a function that puts them back. It returns false if the memory has grown,
 * which cannot be undone. It compares before it copies: writing to blocks that were never touched would claim memory
 * for them.
 */
export function takeMemoryImage(memory: EngineMemory): () => boolean {
  const { buffer } = memory;
  const blocks = blocksOf(buffer).map((block) => (block.equals(EMPTY) ? EMPTY : Buffer.from(block)));
  return () => {
    if (memory.buffer !== buffer) return false;
    for (const [at, block] of blocksOf(buffer).entries())
      if (!block.equals(blocks[at]!)) block.set(blocks[at]!);
    return true;
  };
}

/** The size of a memory is a multiple of the size of a block. */
function blocksOf(buffer: ArrayBuffer): Buffer[] {
  return Array.from({ length: buffer.byteLength / BLOCK_BYTES }, (_, at) =>
    Buffer.from(buffer, at * BLOCK_BYTES, BLOCK_BYTES),
  );
}
