import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import load from "@jitl/quickjs-ng-wasmfile-release-sync/emscripten-module";
import { QuickJSFFI } from "@jitl/quickjs-ng-wasmfile-release-sync/ffi";
import { problem } from "../../base/problems/problem.ts";
import { lazy } from "../../base/util/lazy.ts";

/** An address in the memory of the engine, or 0. */
export type Pointer = number;

/** The package has one type for each kind of pointer; here all are numbers. */
type Plain<T> = T extends number ? number : T;
type PlainFunction<F> = F extends (...args: infer Args) => infer Result
  ? (...args: { [At in keyof Args]: Plain<Args[At]> }) => Plain<Result>
  : never;
/** The C functions of QuickJS. The caller frees the pointers that they return. */
type CFunctions = { [Name in keyof QuickJSFFI]: PlainFunction<QuickJSFFI[Name]> };

/** Functions that QuickJS calls. The first argument is for another build of QuickJS. */
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
  readonly memory: BoundedMemory;
  readonly malloc: (bytes: number) => Pointer;
  readonly free: (at: Pointer) => void;
}

/** The package's own loader. Its declared types are those of the CommonJS build. */
type LoadModule = (options: {
  readonly wasmMemory: EngineMemory;
  instantiateWasm(imports: object, onSuccess: (instance: object) => void): Promise<object>;
}) => Promise<{
  callbacks: Callbacks;
  readonly _malloc: QuickJsModule["malloc"];
  readonly _free: QuickJsModule["free"];
}>;

/** Node has it without a type declaration. */
declare const WebAssembly: {
  Memory: new (pages: { readonly initial: number; readonly maximum: number }) => EngineMemory;
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(code: object, imports: object): Promise<{ readonly exports: object }>;
};

/** The code of the engine: next to the worker in the built package, otherwise in its own package. */
const wasm = lazy(async () => {
  const built = ["./engine.wasm", "../core/sandbox/engine.wasm"]
    .map((path) => new URL(path, import.meta.url))
    .find((file) => existsSync(file));
  const file = built ?? createRequire(import.meta.url).resolve("@jitl/quickjs-ng-wasmfile-release-sync/wasm");
  return WebAssembly.compile(await readFile(file));
});

/** Creates an instance of QuickJS with its own memory. */
export async function loadQuickJs(callbacks: Callbacks): Promise<QuickJsModule> {
  const code = await wasm();
  const memory = createBoundedMemory();
  const module = await (load as unknown as LoadModule)({
    wasmMemory: memory,
    instantiateWasm: async (imports, onSuccess) => {
      const instance = await WebAssembly.instantiate(code, imports);
      onSuccess(instance);
      return instance.exports;
    },
  });
  module.callbacks = callbacks;
  return {
    c: new QuickJSFFI(module as never) as unknown as CFunctions,
    memory,
    malloc: module._malloc,
    free: module._free,
  };
}

/** Memory of WebAssembly, which can grow and never shrinks. */
interface EngineMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** Memory with an upper bound. */
export interface BoundedMemory extends EngineMemory {
  mostBytes: number;
  /** Whether it refused to grow. */
  readonly isFull: boolean;
}

export const NO_MEMORY = { name: "The engine", reason: "no memory is left" };
const PAGE_BYTES = 64 * 1024;
/** Sizes that the build of the engine declares. */
const PAGES = { initial: 256, maximum: 32_768 };

/**
 * The engine's own memory limit counts blocks without their sizes, because WebAssembly has no `malloc_usable_size`.
 * Therefore the memory itself refuses to grow, and the engine throws "out of memory".
 */
function createBoundedMemory(): BoundedMemory {
  const memory = Object.assign(new WebAssembly.Memory(PAGES), { mostBytes: 0, isFull: false });
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    memory.isFull = memory.buffer.byteLength + pages * PAGE_BYTES > memory.mostBytes;
    if (memory.isFull) throw problem("INTERNAL", NO_MEMORY);
    return grow(pages);
  };
  return memory;
}

const EMPTY = Buffer.alloc(PAGE_BYTES);

/**
 * Copies a memory and returns a function that restores it, unless it grew. Compares before it copies: writing to
 * untouched pages would claim memory for them.
 */
export function takeMemoryImage({ buffer }: Pick<EngineMemory, "buffer">): () => void {
  const pages = pagesOf(buffer).map((page) => (page.equals(EMPTY) ? EMPTY : Buffer.from(page)));
  return () => {
    for (const [at, page] of pagesOf(buffer).entries()) if (!page.equals(pages[at]!)) page.set(pages[at]!);
  };
}

function pagesOf(buffer: ArrayBuffer): Buffer[] {
  return Array.from({ length: buffer.byteLength / PAGE_BYTES }, (_, at) =>
    Buffer.from(buffer, at * PAGE_BYTES, PAGE_BYTES),
  );
}
