import { stripTypeScriptTypes } from "node:module";
import { problem } from "../../base/problems/problem.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { createEngine, type Engine, type EngineHost, type Thrown } from "./engine.ts";
import type { FromWorker, Script, ScriptEnd } from "./sandbox.ts";

const FILE = "script.ts";
const JOBS_AT_ONCE = 500;
const MOST_MISSES = 20;
const ERROR_CHARS = 10_000;
/** Milliseconds modulo this fit into the shared integer. */
const CLOCK = 2 ** 30;

/**
 * Runs scripts one after the other, each in the same initial memory. A machine that cannot restore its memory is spent
 * and reports this at the end of the script.
 */
export async function createMachine(send: (message: FromWorker) => void) {
  const engine = await createEngine();
  let running: ScriptRun | undefined;
  // The first use of the parser is slow.
  plainCode("0");
  return {
    /** `clock` holds the time at which the script began to compute, or zero while it waits. */
    start: (script: Script, clock: Int32Array): void => {
      running = new ScriptRun(engine, script, clock, send, (isSpent) => {
        running = undefined;
        if (!isSpent) engine.reset();
      });
      running.start();
    },
    answer: (text: string): void => running?.answer(text),
    /** Whether a script waits for an answer. */
    get isWaiting() {
      return running !== undefined;
    },
  };
}

/** One run of a script. `onEnd` is called when it has ended. */
class ScriptRun implements EngineHost {
  private outcome: ScriptEnd | undefined;
  private requests = 0;
  private open = 0;
  private logged = 0;
  private misses = 0;
  private computed = 0;
  private deadline = 0;
  private interrupted = false;
  private isParserSound = true;
  private readonly engine: Engine;
  private readonly script: Script;
  private readonly clock: Int32Array;
  private readonly post: (message: FromWorker) => void;
  private readonly onEnd: (isSpent: boolean) => void;

  constructor(
    engine: Engine,
    script: Script,
    clock: Int32Array,
    post: (message: FromWorker) => void,
    onEnd: (isSpent: boolean) => void,
  ) {
    this.engine = engine;
    this.script = script;
    this.clock = clock;
    this.post = post;
    this.onEnd = onEnd;
  }

  start(): void {
    const { code, now, seed, params, limits } = this.script;
    this.engine.serve(this, limits);
    this.compute(() => {
      const plain = plainCode(code);
      this.isParserSound = plain !== undefined;
      return this.engine.begin(plain ?? asFunction(code), FILE, params, [now, ...seed]);
    });
  }

  answer(text: string): void {
    this.open -= 1;
    // The text is a list that contains the value.
    this.compute(() => this.engine.answer(`${text.slice(0, -1)},${jsonDepth(text) - 1}]`));
  }

  isOver(): boolean {
    this.interrupted ||= performance.now() > this.deadline;
    return this.interrupted;
  }

  send(json: string): void {
    const { requests, chars } = this.script.limits;
    if (this.requests >= requests) throw tooMuch("The number of calls", this.requests + 1, requests);
    if (json.length > chars) throw tooMuch("The size of the arguments in characters", json.length, chars);
    this.requests += 1;
    this.open += 1;
    this.post(json);
  }

  log(text: string): void {
    const room = this.script.limits.chars - this.logged;
    if (room <= 0) return;
    this.logged += text.length + 1;
    this.post({ type: "log", text: text.slice(0, room) });
  }

  miss(label: string, field: string, fields: string): void {
    if (this.misses++ < MOST_MISSES)
      this.post({ type: "miss", miss: { label, field, fields: JSON.parse(fields) } });
  }

  returned(json: string): void {
    const { chars } = this.script.limits;
    if (json.length <= chars)
      return void this.end(
        json === "" ? { end: "returned", json: "null", nothing: true } : { end: "returned", json },
      );
    const refusal = tooMuch("The size of the returned value in characters", json.length, chars);
    this.fail(refusal.name, refusal.message, "", JSON.stringify(refusal));
  }

  failed(json: string): void {
    const { name, message, stack, problem } = JSON.parse(json);
    this.fail(name, message, stack, problem);
  }

  /** Lets the script compute for its remaining time, then checks whether it still waits for an answer. */
  private compute(step: () => Thrown | undefined): void {
    const { computeMs } = this.script.limits;
    const began = performance.now();
    this.deadline = began + computeMs - this.computed;
    Atomics.store(this.clock, 0, (Date.now() % CLOCK) + 1);
    try {
      this.runSteps(step);
    } catch {
      this.outcome = { end: "stopped", why: this.engine.isFull ? "memory" : "crashed" };
    }
    Atomics.store(this.clock, 0, 0);
    this.computed += performance.now() - began;
    if (this.interrupted || this.computed >= computeMs) this.end({ end: "stopped", why: "compute" });
    else if (this.open === 0) this.end({ end: "stopped", why: "stuck" });
    const { outcome } = this;
    if (!outcome) return;
    // A stopped engine is in an unknown state.
    const isSpent = outcome.end === "stopped" || this.engine.hasGrown || !this.isParserSound;
    this.post({ type: "end", outcome, isSpent });
    this.onEnd(isSpent);
  }

  private runSteps(step: () => Thrown | undefined): void {
    const thrown = step();
    if (thrown) this.threw(thrown);
    let isMore = true;
    while (isMore && !this.outcome && performance.now() <= this.deadline) {
      const done = this.engine.runJobs(JOBS_AT_ONCE);
      if (typeof done === "object") this.threw(done);
      else isMore = done === JOBS_AT_ONCE;
    }
  }

  /** The first end counts. */
  private end(first: ScriptEnd): void {
    this.outcome ??= first;
  }

  private fail(name: string, message: string, stack: string, problem?: string): void {
    // Out of memory, the engine may be unable to create the error and throws null.
    const isMemory =
      (name === "InternalError" && message === "out of memory") || (this.engine.isFull && message === "null");
    const line = /script\.ts:(\d+)/.exec(stack)?.[1];
    const said = { name: cutText(name, ERROR_CHARS), message: cutText(message, ERROR_CHARS) };
    const error = { ...said, ...(line && { line: Number(line) }), ...(problem && { problem }) };
    this.end(isMemory ? { end: "stopped", why: "memory" } : { end: "threw", error });
  }

  private threw({ name, message, stack }: Thrown): void {
    if (!this.interrupted) this.fail(textOr(name, "Error"), textOr(message, ""), textOr(stack, ""));
  }
}

/** Refusals of code. After any other failure the parser fails for all later code. */
const REFUSALS: readonly unknown[] = ["ERR_INVALID_TYPESCRIPT_SYNTAX", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"];

/** Removes types. Leaves code that the parser refuses to the engine. Undefined if the parser crashed. */
function plainCode(code: string): string | undefined {
  const whole = asFunction(code);
  try {
    return stripTypeScriptTypes(whole);
  } catch (error) {
    return REFUSALS.includes((error as NodeJS.ErrnoException).code) ? whole : undefined;
  }
}

function asFunction(code: string): string {
  return `(async () => {${code}\n})`;
}

function tooMuch(what: string, actual: number, limit: number) {
  return problem("LIMIT_EXCEEDED", { what, actual, limit });
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}

const QUOTE = 34;
const ESCAPE = 92;

/** The nesting depth of lists and objects in JSON text. A number or a text has depth 0. */
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
