import { stripTypeScriptTypes } from "node:module";
import { problem } from "../../base/problems/problem.ts";
import { createEngine, type Engine, type EngineHost, type Thrown } from "./engine.ts";
import type { FromWorker, Script, ScriptEnd } from "./sandbox.ts";

/** Runs scripts, one after the other. Nothing of a script outlives it: each begins with the same memory. */
export interface Machine {
  /** `clock` holds the time at which the script began to compute, or zero while it waits. */
  start(script: Script, clock: Int32Array): Promise<void>;
  answer(text: string): void;
  /** Whether a script waits for an answer. */
  readonly isWaiting: boolean;
}

const FILE = "script.ts";
const JOBS_AT_ONCE = 500;
const MOST_MISSES = 20;
/** Milliseconds modulo this fit into the shared integer. */
const CLOCK = 2 ** 30;

export async function createMachine(send: (message: FromWorker) => void): Promise<Machine> {
  let ready = createEngine();
  let running: ScriptRun | undefined;
  await ready;
  // The first use of the parser is slow.
  plainCode("0");
  return {
    start: async (script, clock) => {
      const engine = await ready;
      running = new ScriptRun(engine, script, clock, send, (end) => {
        running = undefined;
        // A stopped engine is in an unknown state.
        const isSound = end !== "stopped" && engine.reset();
        if (!isSound) ready = createEngine();
      });
      running.start();
    },
    answer: (text) => running?.answer(text),
    get isWaiting() {
      return running !== undefined;
    },
  };
}

class ScriptRun implements EngineHost {
  readonly #engine: Engine;
  readonly #script: Script;
  readonly #clock: Int32Array;
  readonly #send: (message: FromWorker) => void;
  readonly #onEnd: (end: ScriptEnd["end"]) => void;
  #outcome: ScriptEnd | undefined;
  #requests = 0;
  #open = 0;
  #logged = 0;
  #misses = 0;
  #computed = 0;
  #deadline = 0;
  #interrupted = false;

  constructor(
    engine: Engine,
    script: Script,
    clock: Int32Array,
    send: (message: FromWorker) => void,
    onEnd: (end: ScriptEnd["end"]) => void,
  ) {
    this.#engine = engine;
    this.#script = script;
    this.#clock = clock;
    this.#send = send;
    this.#onEnd = onEnd;
  }

  start(): void {
    const { code, now, seed, params, limits } = this.#script;
    this.#engine.serve(this, limits.memoryBytes, limits.stackBytes);
    const numbers = [now, ...seed];
    this.#compute(() => this.#engine.begin({ code: plainCode(code), file: FILE, params, numbers }));
  }

  answer(text: string): void {
    this.#open -= 1;
    // The text is a list; the depth of the value inside it becomes its last item.
    const known = `${text.slice(0, -1)},${jsonDepth(text) - 1}]`;
    this.#compute(() => this.#engine.answer(known));
  }

  /** Lets the script compute within what is left of its time, then looks whether it still waits for an answer. */
  #compute(step: () => Thrown | undefined): void {
    const { computeMs } = this.#script.limits;
    const began = performance.now();
    this.#deadline = began + computeMs - this.#computed;
    Atomics.store(this.#clock, 0, (Date.now() % CLOCK) + 1);
    try {
      const thrown = step();
      if (thrown) this.#threw(thrown);
      let isMore = true;
      while (isMore && !this.#outcome && performance.now() <= this.#deadline) {
        const done = this.#engine.runJobs(JOBS_AT_ONCE);
        if (typeof done === "object") this.#threw(done);
        else isMore = done === JOBS_AT_ONCE;
      }
    } catch {
      this.#outcome = { end: "stopped", why: "crashed" };
    }
    Atomics.store(this.#clock, 0, 0);
    this.#computed += performance.now() - began;
    if (this.#interrupted || this.#computed >= computeMs) this.#end({ end: "stopped", why: "compute" });
    else if (this.#open === 0) this.#end({ end: "stopped", why: "stuck" });
    if (!this.#outcome) return;
    this.#send({ type: "end", outcome: this.#outcome });
    this.#onEnd(this.#outcome.end);
  }

  isOver(): boolean {
    this.#interrupted ||= performance.now() > this.#deadline;
    return this.#interrupted;
  }

  send(json: string): void {
    const { requests, chars } = this.#script.limits;
    const number = this.#requests + 1;
    if (number > requests) throw tooMuch("The number of calls", number, requests);
    if (json.length > chars) throw tooMuch("The size of the arguments in characters", json.length, chars);
    this.#requests = number;
    this.#open += 1;
    this.#send(json);
  }

  log(text: string): void {
    const room = this.#script.limits.chars - this.#logged;
    if (room <= 0) return;
    this.#logged += text.length + 1;
    this.#send({ type: "log", text: text.slice(0, room) });
  }

  miss(label: string, field: string, fields: string): void {
    if (this.#misses++ < MOST_MISSES)
      this.#send({ type: "miss", miss: { label, field, fields: JSON.parse(fields) } });
  }

  returned(json: string): void {
    const { chars } = this.#script.limits;
    if (json.length > chars) {
      const refusal = tooMuch("The size of the returned value in characters", json.length, chars);
      this.#fail(refusal.name, refusal.message, "", JSON.stringify(refusal));
    } else {
      this.#end(json === "" ? { end: "returned", json: "null", nothing: true } : { end: "returned", json });
    }
  }

  failed(json: string): void {
    const { name, message, stack, problem } = JSON.parse(json);
    this.#fail(name, message, stack, problem);
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

  #threw({ name, message, stack }: Thrown): void {
    if (this.#interrupted) return;
    this.#fail(textOr(name, "Error"), textOr(message, ""), textOr(stack, ""));
  }

  #end(outcome: ScriptEnd): void {
    this.#outcome ??= outcome;
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

const QUOTE = 34;
const ESCAPE = 92;

/** How deep lists and objects are nested in the text of a JSON value. A number or text alone has depth 0. */
export function jsonDepth(json: string): number {
  let depth = 0;
  let deepest = 0;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (inText) {
      if (char === ESCAPE) at += 1;
      else if (char === QUOTE) inText = false;
    } else if (char === QUOTE) inText = true;
    // [ and {
    else if (char === 91 || char === 123) deepest = Math.max(deepest, ++depth);
    // ] and }
    else if (char === 93 || char === 125) depth -= 1;
  }
  return deepest;
}
