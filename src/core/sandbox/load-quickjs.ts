import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import load from "@jitl/quickjs-ng-wasmfile-release-sync/emscripten-module";
import { QuickJSFFI } from "@jitl/quickjs-ng-wasmfile-release-sync/ffi";
import { lazy } from "../../base/util/lazy.ts";

/** An address in the memory of the engine, or 0. */
export type Pointer = number;

/** The C functions of QuickJS that are in use. Values are pointers, which the caller frees. */
export interface CFunctions {
  QTS_NewRuntime(): Pointer;
  QTS_NewContext(runtime: Pointer, intrinsics: 0): Pointer;
  QTS_RuntimeEnableInterruptHandler(runtime: Pointer): void;
  QTS_RuntimeSetMemoryLimit(runtime: Pointer, bytes: number): void;
  QTS_RuntimeSetMaxStackSize(runtime: Pointer, bytes: number): void;
  /** Returns the number of jobs that ran, or the error that ended one of them. */
  QTS_ExecutePendingJob(runtime: Pointer, most: number, lastContext: Pointer): Pointer;
  QTS_Eval(context: Pointer, code: Pointer, length: number, file: string, module: 0, flags: 0): Pointer;
  QTS_Call(context: Pointer, callee: Pointer, self: Pointer, count: number, args: Pointer): Pointer;
  /** Returns the error, or 0 if the value is none. */
  QTS_ResolveException(context: Pointer, value: Pointer): Pointer;
  QTS_Throw(context: Pointer, error: Pointer): Pointer;
  QTS_NewError(context: Pointer): Pointer;
  QTS_NewFloat64(context: Pointer, number: number): Pointer;
  QTS_NewString(context: Pointer, text: Pointer): Pointer;
  QTS_NewFunction(context: Pointer, name: string, length: number, isConstructor: false, id: number): Pointer;
  QTS_GetUndefined(): Pointer;
  QTS_GetFloat64(context: Pointer, value: Pointer): number;
  QTS_GetString(context: Pointer, value: Pointer): Pointer;
  QTS_GetProp(context: Pointer, object: Pointer, name: Pointer): Pointer;
  QTS_SetProp(context: Pointer, object: Pointer, name: Pointer, value: Pointer): void;
  /** The word of `typeof`. */
  QTS_Typeof(context: Pointer, value: Pointer): Pointer;
  /** JSON of a value; errors with their name, message and stack. */
  QTS_Dump(context: Pointer, value: Pointer): Pointer;
  QTS_ArgvGetJSValueConstPointer(args: Pointer, index: number): Pointer;
  QTS_FreeValuePointer(context: Pointer, value: Pointer): void;
  QTS_FreeCString(context: Pointer, text: Pointer): void;
}

/** The functions that QuickJS calls. The first argument is for another build of it. */
export interface Callbacks {
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
export interface EngineMemory {
  readonly buffer: ArrayBuffer;
}

/** The whole content of a memory at one moment. */
interface MemoryImage {
  /** Makes every byte of the memory what it was. False if the memory has grown, which cannot be undone. */
  restore(): boolean;
}

const BLOCK_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(BLOCK_BYTES);

/** Compares before it copies: most blocks were never touched, and writing to those would claim memory for them. */
export function takeMemoryImage(memory: EngineMemory): MemoryImage {
  const { buffer } = memory;
  const blocks = blocksOf(buffer).map((block) => (block.equals(EMPTY) ? EMPTY : Buffer.from(block)));
  return {
    restore: () => {
      if (memory.buffer !== buffer) return false;
      for (const [at, block] of blocksOf(buffer).entries())
        if (!block.equals(blocks[at]!)) block.set(blocks[at]!);
      return true;
    },
  };
}

/** The size of a memory is a multiple of the size of a block. */
function blocksOf(buffer: ArrayBuffer): Buffer[] {
  return Array.from({ length: buffer.byteLength / BLOCK_BYTES }, (_, at) =>
    Buffer.from(buffer, at * BLOCK_BYTES, BLOCK_BYTES),
  );
}
