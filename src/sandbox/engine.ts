import { takeMemoryImage } from "./memory-image.ts";
import { PRELUDE } from "./prelude.ts";
import { createQuickJs, type QuickJs, type Thrown, type Value } from "./quickjs.ts";

/** The functions that the prelude calls. Their arguments come from the script. */
export interface EngineHost {
  send(json: string): void;
  log(text: string): void;
  miss(label: string, field: string, fields: string): void;
  /** The script came to its end. Empty if it returned nothing. */
  returned(json: string): void;
  failed(json: string): void;
  /** Asked now and then while the script computes: whether to end it. */
  isOver(): boolean;
}

/** A script as the engine takes it: `params` is JSON, `numbers` are the time and the seed. */
export interface EngineScript {
  readonly code: string;
  readonly file: string;
  readonly params: string;
  readonly numbers: readonly number[];
}

/** One WebAssembly instance with a context in which the prelude has run. It runs one script at a time. */
export interface Engine {
  /** Takes the functions and the bounds of the next script. */
  serve(host: EngineHost, memoryBytes: number, stackBytes: number): void;
  begin(script: EngineScript): Thrown | undefined;
  /** Answers a request of the script. */
  answer(text: string): Thrown | undefined;
  readonly runJobs: QuickJs["runJobs"];
  /**
   * Makes the engine what it was before its first script; false if that cannot be done. Besides its memory, only the
   * pointer to the top of its stack changes, which is back in its place after every call that returned.
   */
  reset(): boolean;
}

export async function createEngine(): Promise<Engine> {
  let served: EngineHost | undefined;
  const quickjs = await createQuickJs(() => served?.isOver() ?? false);
  const functions = [
    quickjs.newFunction("send", (json) => served!.send(json!)),
    quickjs.newFunction("log", (text) => served!.log(text!)),
    quickjs.newFunction("miss", (label, field, fields) => served!.miss(label!, field!, fields!)),
    quickjs.newFunction("returned", (json) => served!.returned(json!)),
    quickjs.newFunction("failed", (json) => served!.failed(json!)),
  ];
  const prelude = quickjs.evaluate(PRELUDE, "prelude.js") as Value;
  const exposed = quickjs.call(prelude, functions) as Value;
  const begin = quickjs.field(exposed, "begin");
  const run = quickjs.field(exposed, "run");
  const answer = quickjs.field(exposed, "answer");
  const image = takeMemoryImage(quickjs.memory);

  /** Calls a function of the prelude. None of them returns anything. */
  function call(callee: Value, args: readonly Value[]): Thrown | undefined {
    const value = quickjs.call(callee, args);
    if (typeof value === "object") return value;
    quickjs.free(value);
    return undefined;
  }

  return {
    serve: (host, memoryBytes, stackBytes) => {
      served = host;
      quickjs.setLimits(memoryBytes, stackBytes);
    },
    begin: ({ code, file, params, numbers }) => {
      const refused = call(begin, [quickjs.newText(params), ...numbers.map(quickjs.newNumber)]);
      if (refused) return refused;
      const main = quickjs.evaluate(code, file);
      return typeof main === "object" ? main : call(run, [main]);
    },
    answer: (text) => call(answer, [quickjs.newText(text)]),
    runJobs: quickjs.runJobs,
    reset: () => {
      served = undefined;
      return image.restore();
    },
  };
}
