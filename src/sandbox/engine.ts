import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import variant from "@jitl/quickjs-ng-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from "quickjs-emscripten-core";
import { lazy } from "../util/lazy.ts";
import { type EngineMemory, takeMemoryImage } from "./memory-image.ts";
import { PRELUDE } from "./prelude.ts";

/** The functions that the prelude calls. Their arguments come from the script. */
export interface EngineHost {
  send(json: string): void;
  log(text: string): void;
  miss(label: string, field: string, fields: string): void;
  finish(ok: boolean, json: string): void;
  /** Asked now and then while the script computes: whether to end it. */
  isOver(): boolean;
}

/** One WebAssembly instance with a context in which the prelude has run. It runs one script at a time. */
export interface Engine {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  /** Functions of the prelude. */
  readonly begin: QuickJSHandle;
  readonly answer: QuickJSHandle;
  readonly run: QuickJSHandle;
  /** Takes the functions for the next script. */
  serve(host: EngineHost): void;
  /**
   * Makes the engine what it was before its first script; false if that cannot be done. Besides its memory, only the
   * pointer to the top of its stack changes, which is back in its place after every call that returned.
   */
  reset(): boolean;
}

/** Node has it, and its types do not say so. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<never> };

/** The code of the engine: beside the worker in the built package, in its own package otherwise. */
const wasm = lazy(async () => {
  const built = new URL("../sandbox/engine.wasm", import.meta.url);
  const file = existsSync(built)
    ? built
    : createRequire(import.meta.url).resolve("@jitl/quickjs-ng-wasmfile-release-sync/wasm");
  return WebAssembly.compile(await readFile(file));
});

export async function createEngine(): Promise<Engine> {
  // The package's types are those of its CommonJS build, which has the variant one level deeper.
  const release = newVariant(variant as unknown as QuickJSSyncVariant, { wasmModule: await wasm() });
  const quickjs = await newQuickJSWASMModuleFromVariant(release as QuickJSSyncVariant);
  const runtime = quickjs.newRuntime();
  const context = runtime.newContext();
  let served: EngineHost | undefined;
  const host = (): EngineHost => served!;
  // Set before the image is taken, because it is a part of the memory.
  runtime.setInterruptHandler(() => served?.isOver() ?? false);
  const functions = [
    toFunction(context, "send", (json) => host().send(context.getString(json!))),
    toFunction(context, "log", (text) => host().log(context.getString(text!))),
    toFunction(context, "miss", (label, field, fields) =>
      host().miss(context.getString(label!), context.getString(field!), context.getString(fields!)),
    ),
    toFunction(context, "finish", (ok, json) =>
      host().finish(context.dump(ok!) === true, context.getString(json!)),
    ),
  ];
  const prelude = context.unwrapResult(context.evalCode(PRELUDE, "prelude.js"));
  const exposed = context.unwrapResult(context.callFunction(prelude, context.undefined, functions));
  const engine: Engine = {
    runtime,
    context,
    begin: context.getProp(exposed, "begin"),
    answer: context.getProp(exposed, "answer"),
    run: context.getProp(exposed, "run"),
    serve: (host) => {
      served = host;
    },
    reset: () => {
      served = undefined;
      return image.restore();
    },
  };
  const image = takeMemoryImage(quickjs.getWasmMemory() as unknown as EngineMemory);
  return engine;
}

function toFunction(
  context: QuickJSContext,
  name: string,
  body: (...args: (QuickJSHandle | undefined)[]) => void,
): QuickJSHandle {
  return context.newFunction(name, (...args) => body(...args));
}
