import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire, stripTypeScriptTypes } from "node:module";
import variant from "@jitl/quickjs-ng-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from "quickjs-emscripten-core";
import { problem } from "../schema/problem.ts";
import { lazy } from "../util/lazy.ts";
import type { FromWorker, Script, ScriptEnd, ToWorker } from "./messages.ts";
import { PRELUDE } from "./prelude.ts";

/** Runs one script. Each machine has its own WebAssembly memory, so nothing of a script outlives it. */
export interface Machine {
  /** `state` holds the time at which the script began to compute, or zero while it waits. */
  start(script: Script, state: SharedArrayBuffer, onEnd: () => void): void;
  answer(answer: Extract<ToWorker, { type: "answer" }>): void;
}

const FILE = "script.ts";
const JOBS_AT_ONCE = 500;
const MOST_MISSES = 20;
/** Milliseconds modulo this fit into the shared integer. */
const CLOCK = 2 ** 30;

/** Node has it, and its types do not say so. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<never> };

/** The engine: beside the worker in the built package, in its own package otherwise. */
const wasm = lazy(async () => {
  const built = new URL("../sandbox/engine.wasm", import.meta.url);
  const file = existsSync(built)
    ? built
    : createRequire(import.meta.url).resolve("@jitl/quickjs-ng-wasmfile-release-sync/wasm");
  return WebAssembly.compile(await readFile(file));
});

/** The first use of the parser is slow. */
const warmParser = lazy(() => plainCode("0"));

export async function createMachine(send: (message: FromWorker) => void): Promise<Machine> {
  // The package's types are those of its CommonJS build, which has the variant one level deeper.
  const release = newVariant(variant as unknown as QuickJSSyncVariant, { wasmModule: await wasm() });
  const engine = await newQuickJSWASMModuleFromVariant(release as QuickJSSyncVariant);
  warmParser();
  const runtime = engine.newRuntime();
  const context = runtime.newContext();
  const prelude = context.unwrapResult(context.evalCode(PRELUDE, "prelude.js"));
  return new Run(runtime, context, prelude, send);
}

class Run implements Machine {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #prelude: QuickJSHandle;
  readonly #send: (message: FromWorker) => void;
  #script: Script | undefined;
  #state: Int32Array = new Int32Array(1);
  #onEnd = () => {};
  #answerIn: QuickJSHandle | undefined;
  #ended = false;
  #requests = 0;
  #open = 0;
  #logged = 0;
  #misses = 0;
  #computed = 0;
  #deadline = 0;
  #interrupted = false;

  constructor(
    runtime: QuickJSRuntime,
    context: QuickJSContext,
    prelude: QuickJSHandle,
    send: (message: FromWorker) => void,
  ) {
    this.#runtime = runtime;
    this.#context = context;
    this.#prelude = prelude;
    this.#send = send;
  }

  start(script: Script, state: SharedArrayBuffer, onEnd: () => void): void {
    this.#script = script;
    this.#state = new Int32Array(state);
    this.#onEnd = onEnd;
    const { limits } = script;
    this.#runtime.setMemoryLimit(limits.memoryBytes);
    this.#runtime.setMaxStackSize(limits.stackBytes);
    this.#runtime.setInterruptHandler(() => {
      this.#interrupted ||= performance.now() > this.#deadline;
      return this.#interrupted;
    });
    this.#compute(() => this.#begin(script));
  }

  answer({ id, ok, json, label }: Extract<ToWorker, { type: "answer" }>): void {
    this.#open -= 1;
    const context = this.#context;
    this.#compute(() => {
      const args = [context.newNumber(id), ok ? context.true : context.false];
      this.#call(this.#answerIn!, [...args, context.newString(json), context.newString(label)]);
    });
  }

  #begin({ code, now, seed, params }: Script): void {
    const context = this.#context;
    const seeds = context.newArray();
    for (const [index, part] of seed.entries()) context.setProp(seeds, index, context.newNumber(part));
    const exposed = this.#call(this.#prelude, [
      this.#function("send", (id, json) => this.#request(context.getNumber(id!), context.getString(json!))),
      this.#function("log", (text) => this.#log(context.getString(text!))),
      this.#function("miss", (label, field, fields) =>
        this.#miss(context.getString(label!), context.getString(field!), context.getString(fields!)),
      ),
      this.#function("finish", (ok, json) =>
        this.#finish(context.dump(ok!) === true, context.getString(json!)),
      ),
      context.newNumber(now),
      seeds,
      context.newString(params),
    ]);
    if (!exposed) return;
    this.#answerIn = context.getProp(exposed, "answer");
    const main = context.evalCode(plainCode(code), FILE);
    if (main.error) this.#threw(main.error);
    else this.#call(context.getProp(exposed, "run"), [main.value]);
  }

  /** Lets the script compute within what is left of its time, then looks whether it still waits for an answer. */
  #compute(step: () => void): void {
    if (this.#ended) return;
    const began = performance.now();
    this.#deadline = began + this.#script!.limits.computeMs - this.#computed;
    Atomics.store(this.#state, 0, (Date.now() % CLOCK) + 1);
    try {
      step();
      while (!this.#ended && this.#runtime.hasPendingJob() && performance.now() <= this.#deadline) {
        const done = this.#runtime.executePendingJobs(JOBS_AT_ONCE);
        if (done.error) this.#threw(done.error);
      }
    } catch {
      this.#end({ end: "stopped", why: "crashed" });
    }
    Atomics.store(this.#state, 0, 0);
    this.#computed += performance.now() - began;
    if (this.#ended) return;
    if (this.#interrupted || this.#computed >= this.#script!.limits.computeMs)
      this.#end({ end: "stopped", why: "compute" });
    else if (this.#open === 0) this.#end({ end: "stopped", why: "stuck" });
  }

  #request(id: number, json: string): void {
    const { requests, chars } = this.#script!.limits;
    this.#requests += 1;
    if (this.#requests > requests) throw tooMuch("The number of calls", this.#requests, requests);
    if (json.length > chars) throw tooMuch("The size of the arguments in characters", json.length, chars);
    this.#open += 1;
    this.#send({ type: "request", id, json });
  }

  #log(text: string): void {
    const room = this.#script!.limits.chars - this.#logged;
    if (room <= 0) return;
    this.#logged += text.length + 1;
    this.#send({ type: "log", text: text.slice(0, room) });
  }

  #miss(label: string, field: string, fields: string): void {
    if (this.#misses++ < MOST_MISSES)
      this.#send({ type: "miss", miss: { label, field, fields: JSON.parse(fields) } });
  }

  #finish(ok: boolean, json: string): void {
    if (!ok) {
      const { name, message, stack, problem } = JSON.parse(json);
      this.#fail(name, message, stack, problem);
    } else if (json.length > this.#script!.limits.chars) {
      const { chars } = this.#script!.limits;
      const refusal = tooMuch("The size of the returned value in characters", json.length, chars);
      this.#fail(refusal.name, refusal.message, "", JSON.stringify(refusal));
    } else {
      this.#end({ end: "returned", json });
    }
  }

  #fail(name: string, message: string, stack: string, problem?: string): void {
    if (name === "InternalError" && message === "out of memory") {
      this.#end({ end: "stopped", why: "memory" });
      return;
    }
    const line = /script\.ts:(\d+)/.exec(stack)?.[1];
    const error = { name, message, ...(line && { line: Number(line) }), ...(problem && { problem }) };
    this.#end({ end: "threw", error });
  }

  #threw(error: QuickJSHandle): void {
    if (this.#interrupted) return;
    const dumped: unknown = this.#context.dump(error);
    const { name, message, stack } = (typeof dumped === "object" && dumped ? dumped : {}) as Record<
      string,
      unknown
    >;
    this.#fail(textOr(name, "Error"), textOr(message, String(dumped)), textOr(stack, ""));
  }

  #end(outcome: ScriptEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#send({ type: "end", outcome });
    this.#onEnd();
  }

  #call(callee: QuickJSHandle, args: QuickJSHandle[]): QuickJSHandle | undefined {
    const made = this.#context.callFunction(callee, this.#context.undefined, args);
    if (made.error) this.#threw(made.error);
    return made.error ? undefined : made.value;
  }

  #function(name: string, body: (...args: (QuickJSHandle | undefined)[]) => void): QuickJSHandle {
    return this.#context.newFunction(name, (...args) => {
      body(...args);
      return this.#context.undefined;
    });
  }
}

/** Removes types. Code that only a parser of JavaScript accepts is left for the engine to judge. */
function plainCode(code: string): string {
  const whole = `(async () => {${code}\n})`;
  try {
    return stripTypeScriptTypes(whole);
  } catch {
    return whole;
  }
}

function tooMuch(what: string, actual: number, limit: number) {
  return problem("LIMIT_EXCEEDED", { what, actual, limit });
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}
