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
 * Runs scripts, one after the other. Nothing of a script outlives it: each begins with the same memory. A machine that
 * cannot have that memory again is spent, and says so with the end of the script.
 */
export async function createMachine(send: (message: FromWorker) => void) {
  const engine = await createEngine();
  let running: ReturnType<typeof createScriptRun> | undefined;
  // The first use of the parser is slow.
  plainCode("0");
  return {
    /** `clock` holds the time at which the script began to compute, or zero while it waits. */
    start: (script: Script, clock: Int32Array): void => {
      running = createScriptRun(engine, script, clock, send, (isSpent) => {
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

/** Runs one script. `onEnd` is called when it has ended. */
function createScriptRun(
  engine: Engine,
  { code, now, seed, params, limits }: Script,
  clock: Int32Array,
  send: (message: FromWorker) => void,
  onEnd: (isSpent: boolean) => void,
) {
  let outcome: ScriptEnd | undefined;
  let requests = 0;
  let open = 0;
  let logged = 0;
  let misses = 0;
  let computed = 0;
  let deadline = 0;
  let interrupted = false;
  let isParserSound = true;

  /** Lets the script compute within what is left of its time, then looks whether it still waits for an answer. */
  function compute(step: () => Thrown | undefined): void {
    const began = performance.now();
    deadline = began + limits.computeMs - computed;
    Atomics.store(clock, 0, (Date.now() % CLOCK) + 1);
    try {
      const thrown = step();
      if (thrown) threw(thrown);
      let isMore = true;
      while (isMore && !outcome && performance.now() <= deadline) {
        const done = engine.runJobs(JOBS_AT_ONCE);
        if (typeof done === "object") threw(done);
        else isMore = done === JOBS_AT_ONCE;
      }
    } catch {
      outcome = { end: "stopped", why: engine.isFull ? "memory" : "crashed" };
    }
    Atomics.store(clock, 0, 0);
    computed += performance.now() - began;
    if (interrupted || computed >= limits.computeMs) end({ end: "stopped", why: "compute" });
    else if (open === 0) end({ end: "stopped", why: "stuck" });
    if (!outcome) return;
    // A stopped engine is in an unknown state.
    const isSpent = outcome.end === "stopped" || engine.hasGrown || !isParserSound;
    send({ type: "end", outcome, isSpent });
    onEnd(isSpent);
  }

  /** The first end counts. */
  function end(first: ScriptEnd): void {
    outcome ??= first;
  }

  function fail(name: string, message: string, stack: string, problem?: string): void {
    // An engine without memory may have none for the error, and throws null.
    const isMemory =
      (name === "InternalError" && message === "out of memory") || (engine.isFull && message === "null");
    const line = /script\.ts:(\d+)/.exec(stack)?.[1];
    const said = { name: cutText(name, ERROR_CHARS), message: cutText(message, ERROR_CHARS) };
    const error = { ...said, ...(line && { line: Number(line) }), ...(problem && { problem }) };
    end(isMemory ? { end: "stopped", why: "memory" } : { end: "threw", error });
  }

  function threw({ name, message, stack }: Thrown): void {
    if (!interrupted) fail(textOr(name, "Error"), textOr(message, ""), textOr(stack, ""));
  }

  const host: EngineHost = {
    isOver: () => {
      interrupted ||= performance.now() > deadline;
      return interrupted;
    },
    send: (json) => {
      if (requests >= limits.requests) throw tooMuch("The number of calls", requests + 1, limits.requests);
      if (json.length > limits.chars)
        throw tooMuch("The size of the arguments in characters", json.length, limits.chars);
      requests += 1;
      open += 1;
      send(json);
    },
    log: (text) => {
      const room = limits.chars - logged;
      if (room <= 0) return;
      logged += text.length + 1;
      send({ type: "log", text: text.slice(0, room) });
    },
    miss: (label, field, fields) => {
      if (misses++ < MOST_MISSES) send({ type: "miss", miss: { label, field, fields: JSON.parse(fields) } });
    },
    returned: (json) => {
      if (json.length <= limits.chars)
        return end(
          json === "" ? { end: "returned", json: "null", nothing: true } : { end: "returned", json },
        );
      const refusal = tooMuch("The size of the returned value in characters", json.length, limits.chars);
      fail(refusal.name, refusal.message, "", JSON.stringify(refusal));
    },
    failed: (json) => {
      const { name, message, stack, problem } = JSON.parse(json);
      fail(name, message, stack, problem);
    },
  };

  return {
    start: () => {
      engine.serve(host, limits);
      compute(() => {
        const plain = plainCode(code);
        isParserSound = plain !== undefined;
        return engine.begin(plain ?? asFunction(code), FILE, params, [now, ...seed]);
      });
    },
    answer: (text: string) => {
      open -= 1;
      // The text is a list with the value in it.
      compute(() => engine.answer(`${text.slice(0, -1)},${jsonDepth(text) - 1}]`));
    },
  };
}

/** A parser that failed in any other way answers all later code with the same failure. */
const REFUSALS: readonly unknown[] = ["ERR_INVALID_TYPESCRIPT_SYNTAX", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"];

/** Removes types. Code that the parser refuses is left for the engine to judge. Undefined if the parser crashed. */
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
